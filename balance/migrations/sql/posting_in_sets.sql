-- What a posting does to a balance and what a balance may become, for both ways to post
-- (decision 0138). PostgreSQL puts such functions in the place of their calls: they cost nothing.
CREATE FUNCTION balance_available_delta(kind text, cents bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN kind IN ('credit', 'unlock') THEN cents
    WHEN kind IN ('debit', 'lock') THEN -cents
    ELSE 0
END;

CREATE FUNCTION balance_locked_delta(kind text, cents bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN kind = 'lock' THEN cents
    WHEN kind IN ('unlock', 'settlement') THEN -cents
    ELSE 0
END;

-- Whether a balance may be this after a posting of this kind.
CREATE FUNCTION balance_may_become(kind text, available bigint, locked bigint, pending bigint)
RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (kind <> 'lock' OR available >= 0)
    AND abs(available) <= 1000000000000000
    AND locked BETWEEN 0 AND 1000000000000000
    AND pending BETWEEN 0 AND 1000000000000000;

-- As before (posting.sql), with the rules above.
CREATE OR REPLACE FUNCTION balance_post(
    line_id text,
    tenant text,
    kind text,
    cents bigint,
    pending_delta bigint,
    source text,
    source_number text,
    words text,
    moment timestamptz,
    OUT sequence bigint,
    OUT available bigint,
    OUT locked bigint,
    OUT pending bigint,
    OUT posted_at timestamptz,
    OUT notify_below bigint,
    OUT notify_rise boolean
)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    available_delta CONSTANT bigint := balance_available_delta(kind, cents);
    locked_delta CONSTANT bigint := balance_locked_delta(kind, cents);
    posted_before timestamptz;
    low_before boolean;
BEGIN
    UPDATE balance
    SET available = available + available_delta,
        locked = locked + locked_delta,
        pending = pending + pending_delta,
        is_low = coalesce(
            available + available_delta + pending + pending_delta < notify_below, false
        ),
        sequence = sequence + 1,
        posted_at = greatest(least(moment, ballast_now()), posted_at)
    WHERE tenant_id = tenant AND currency = 'USD'
        AND balance_may_become(
            kind, available + available_delta, locked + locked_delta, pending + pending_delta
        )
    RETURNING
        new.sequence, new.available, new.locked, new.pending, new.posted_at,
        new.notify_below, new.notify_rise, old.posted_at, old.is_low
    INTO
        sequence, available, locked, pending, posted_at,
        notify_below, notify_rise, posted_before, low_before;
    IF sequence IS NULL THEN
        RETURN;
    END IF;

    INSERT INTO balance_transaction (
        id, tenant_id, sequence, type, amount, currency, available_delta, locked_delta,
        available_after, locked_after, source_type, source_id, description, created_at
    ) VALUES (
        line_id, tenant, sequence, kind, cents, 'USD', available_delta, locked_delta,
        available, locked, source, source_number, words, posted_at
    )
    ON CONFLICT DO NOTHING;
    IF FOUND THEN
        RETURN;
    END IF;

    UPDATE balance  -- it was posted before: as if nobody had asked
    SET available = available - available_delta,
        locked = locked - locked_delta,
        pending = pending - pending_delta,
        is_low = low_before,
        sequence = sequence - 1,
        posted_at = posted_before
    WHERE tenant_id = tenant AND currency = 'USD';
    sequence := NULL;
END
$$;

-- Posts many lines of several tenants, those of one tenant in the order given, and gives a row for
-- each: the balance as the line left it. Without a sequence the line was not posted, and the row
-- says the balance that it met; balance/sets.py asks why. No row at all: nothing was posted and
-- nothing is locked, because a tenant has no balance row.
--
-- All balance rows are locked first, in the order of their tenants, so sets do not wait for each
-- other in a circle. If all lines fit, one INSERT writes them and one UPDATE moves each balance once.
-- Their INSERT does not look for repeats, which costs a line a tenth of its work; a repeat breaks
-- it, and takes back what the block did. Then, and if a line does not fit, each is posted alone.
CREATE FUNCTION balance_post_many(
    line_ids text[],
    tenants text[],
    kinds text[],
    cents bigint[],
    pending_deltas bigint[],
    sources text[],
    source_numbers text[],
    words text[],
    moment timestamptz
)
RETURNS TABLE (
    sequence bigint,
    available bigint,
    locked bigint,
    pending bigint,
    posted_at timestamptz,
    notify_below bigint,
    notify_rise boolean
)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    do_fit boolean;
    sequences bigint[];  -- by place in the set, as the parameters are; so are the next seven
    availables bigint[];
    lockeds bigint[];
    pendings bigint[];
    moments timestamptz[];
    thresholds bigint[];
    rises boolean[];
    lasts boolean[];
BEGIN
    BEGIN
        WITH held AS MATERIALIZED (
            SELECT
                tenant_id, sequence, available, locked, pending, notify_below, notify_rise,
                greatest(least(moment, ballast_now()), posted_at) AS posted_at
            FROM balance
            WHERE tenant_id = ANY (tenants) AND currency = 'USD'
            ORDER BY tenant_id
            FOR NO KEY UPDATE
        ), line AS (
            SELECT
                given.place, given.kind, held.posted_at, held.notify_below, held.notify_rise,
                held.sequence + row_number() OVER so_far AS sequence,
                held.available
                + (sum(balance_available_delta(given.kind, given.cents)) OVER so_far)::bigint
                AS available,
                held.locked
                + (sum(balance_locked_delta(given.kind, given.cents)) OVER so_far)::bigint
                AS locked,
                held.pending + (sum(given.pending_delta) OVER so_far)::bigint AS pending,
                lead(given.place) OVER so_far IS NULL AS is_last
            FROM unnest(tenants, kinds, cents, pending_deltas)
                WITH ORDINALITY AS given (tenant, kind, cents, pending_delta, place)
            JOIN held ON held.tenant_id = given.tenant
            WINDOW so_far AS (
                PARTITION BY given.tenant ORDER BY given.place ROWS UNBOUNDED PRECEDING
            )
        )
        SELECT
            every(balance_may_become(kind, available, locked, pending)),
            array_agg(sequence), array_agg(available), array_agg(locked), array_agg(pending),
            array_agg(posted_at), array_agg(notify_below), array_agg(notify_rise),
            array_agg(is_last)
        INTO
            do_fit, sequences, availables, lockeds, pendings, moments, thresholds, rises, lasts
        FROM (SELECT * FROM line ORDER BY place) AS line;

        IF cardinality(sequences) IS DISTINCT FROM cardinality(tenants) THEN
            RAISE no_data_found;  -- and unlock what was locked
        END IF;
        IF do_fit THEN
            INSERT INTO balance_transaction (
                id, tenant_id, sequence, type, amount, currency, available_delta, locked_delta,
                available_after, locked_after, source_type, source_id, description, created_at
            )
            SELECT
                line.id, line.tenant, line.sequence, line.kind, line.cents, 'USD',
                balance_available_delta(line.kind, line.cents),
                balance_locked_delta(line.kind, line.cents),
                line.available, line.locked, line.source, line.source_number, line.words,
                line.posted_at
            FROM unnest(
                line_ids, tenants, kinds, cents, sources, source_numbers, words, sequences,
                availables, lockeds, moments
            ) AS line (
                id, tenant, kind, cents, source, source_number, words, sequence,
                available, locked, posted_at
            );
            UPDATE balance
            SET available = line.available,
                locked = line.locked,
                pending = line.pending,
                is_low = coalesce(line.available + line.pending < balance.notify_below, false),
                sequence = line.sequence,
                posted_at = line.posted_at
            FROM unnest(tenants, sequences, availables, lockeds, pendings, moments, lasts)
                AS line (tenant, sequence, available, locked, pending, posted_at, is_last)
            WHERE line.is_last AND balance.tenant_id = line.tenant AND balance.currency = 'USD';
            RETURN QUERY SELECT * FROM unnest(
                sequences, availables, lockeds, pendings, moments, thresholds, rises
            );
            RETURN;
        END IF;
    EXCEPTION
        WHEN unique_violation THEN
            PERFORM FROM balance WHERE tenant_id = ANY (tenants) AND currency = 'USD'
            ORDER BY tenant_id FOR NO KEY UPDATE;
        WHEN no_data_found THEN
            RETURN;
    END;

    FOR place IN 1 .. cardinality(tenants) LOOP
        SELECT posted.*
        INTO sequence, available, locked, pending, posted_at, notify_below, notify_rise
        FROM balance_post(
            line_ids[place], tenants[place], kinds[place], cents[place], pending_deltas[place],
            sources[place], source_numbers[place], words[place], moment
        ) AS posted;
        IF sequence IS NULL THEN
            SELECT balance.available, balance.locked, balance.pending
            INTO available, locked, pending
            FROM balance WHERE tenant_id = tenants[place] AND currency = 'USD';
        END IF;
        RETURN NEXT;
    END LOOP;
END
$$;

REVOKE ALL ON FUNCTION
    balance_available_delta, balance_locked_delta, balance_may_become, balance_post_many
FROM PUBLIC;
