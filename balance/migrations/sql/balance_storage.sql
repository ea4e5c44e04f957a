-- Every posting rewrites a balance row. Room on the page keeps each new version there (HOT), and
-- an eager vacuum keeps the chain of old versions short.
ALTER TABLE balance SET (
    fillfactor = 25,
    autovacuum_vacuum_threshold = 100,
    autovacuum_vacuum_scale_factor = 0.01,
    autovacuum_vacuum_cost_delay = 0
);
