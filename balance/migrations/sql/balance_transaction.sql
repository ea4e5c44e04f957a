-- Append-only rows of every tenant. Partitioned by tenant from the start: 10^9 rows stay small
-- indexes and short vacuums, and a partition can move to another machine.
-- Eight-byte columns come first, so that no padding is stored between columns.
CREATE TABLE balance_transaction (
    sequence        bigint NOT NULL,
    amount          bigint NOT NULL,
    available_delta bigint NOT NULL,
    locked_delta    bigint NOT NULL,
    available_after bigint NOT NULL,
    locked_after    bigint NOT NULL,
    created_at      timestamptz NOT NULL,
    id              varchar(32) COLLATE "C" NOT NULL,
    tenant_id       varchar(32) COLLATE "C" NOT NULL
        CONSTRAINT balance_transaction_tenant_fk REFERENCES tenants_tenant (id),
    type            varchar(10) NOT NULL,
    currency        varchar(3) NOT NULL,
    source_type     varchar(32) NOT NULL,
    source_id       varchar(32) COLLATE "C" NOT NULL,
    description     varchar(200) NOT NULL,
    CONSTRAINT balance_transaction_pkey PRIMARY KEY (tenant_id, sequence)
) PARTITION BY HASH (tenant_id);

DO $$
BEGIN
    FOR remainder IN 0..15 LOOP
        EXECUTE format(
            'CREATE TABLE balance_transaction_%s PARTITION OF balance_transaction'
            ' FOR VALUES WITH (MODULUS 16, REMAINDER %s)',
            lpad(remainder::text, 2, '0'), remainder
        );
    END LOOP;
END
$$;
