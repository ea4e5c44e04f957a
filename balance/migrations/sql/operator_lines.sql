-- Writes lines of the operator, each once by its source and step. Returns the source and step of
-- one that is there with another amount, rail or tenant; null where there is none.
--
-- Nothing is updated, so no two tenants wait for each other. A line is dated by the caller, but not
-- later than now, and never in a day whose totals are stored.
CREATE FUNCTION balance_book(
    steps text[],
    cents bigint[],
    rails text[],
    sources text[],
    source_numbers text[],
    tenants text[],
    days date[],
    moment timestamptz
)
RETURNS text
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp
AS $$
DECLARE
    written bigint;
    booked_at CONSTANT timestamptz := greatest(
        least(moment, ballast_now()),
        (SELECT (max(booked_on) + 1)::timestamp AT TIME ZONE 'America/New_York'
            FROM balance_operator_day)
    );
    today CONSTANT date := (booked_at AT TIME ZONE 'America/New_York')::date;
BEGIN
    INSERT INTO balance_operator_line (
        step, amount, rail, source_type, source_id, tenant_id, day, created_at
    )
    SELECT given.step, given.cents, given.rail, given.source, given.source_number, given.tenant,
        coalesce(given.day, today), booked_at
    FROM unnest(steps, cents, rails, sources, source_numbers, tenants, days)
        AS given (step, cents, rail, source, source_number, tenant, day)
    ON CONFLICT (source_id, source_type, step) DO NOTHING;
    GET DIAGNOSTICS written = ROW_COUNT;
    IF written = cardinality(steps) THEN
        RETURN NULL;
    END IF;
    RETURN (
        SELECT given.source_number || ' ' || given.step
        FROM unnest(steps, cents, rails, sources, source_numbers, tenants)
            AS given (step, cents, rail, source, source_number, tenant)
        JOIN balance_operator_line AS line ON line.source_id = given.source_number
            AND line.source_type = given.source AND line.step = given.step
        WHERE (line.amount, line.rail, line.tenant_id)
            IS DISTINCT FROM (given.cents, given.rail, given.tenant)
        LIMIT 1
    );
END
$$;

REVOKE ALL ON FUNCTION balance_book FROM PUBLIC;
