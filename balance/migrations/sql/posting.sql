-- The only ways to change money: the application's role may run these functions, and has no right of
-- its own to insert a line or to change what a balance says of money (decision 0114). They run with
-- the rights of the owner, so names in them are looked up where only the owner can put one.

-- Posts one line, moves the balance with it, and gives the balance as it is then. All NULL: nothing
-- was posted, because there is no balance row, because what is asked is not covered or would leave
-- the range, or because the same movement was posted before; balance/posting.py asks which.
--
-- The update waits for the balance row and works on its newest version; the row stays locked until
-- the caller's transaction ends. So the line that comes second follows the line before it, and finds
-- the same movement if somebody else posted it meanwhile. ON CONFLICT names no index: PostgreSQL
-- would look up which index of the partition is meant for every posting (a tenth of its work).
CREATE FUNCTION balance_post(
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
    available_delta CONSTANT bigint := CASE
        WHEN kind IN ('credit', 'unlock') THEN cents
        WHEN kind IN ('debit', 'lock') THEN -cents
        ELSE 0
    END;
    locked_delta CONSTANT bigint := CASE
        WHEN kind = 'lock' THEN cents
        WHEN kind IN ('unlock', 'settlement') THEN -cents
        ELSE 0
    END;
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
        AND (kind <> 'lock' OR available >= cents)
        AND locked >= -locked_delta
        AND pending >= -pending_delta
        AND abs(available + available_delta) <= 1000000000000000
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

-- Moves what is on its way, and gives the balance; no row: the tenant has none yet.
CREATE FUNCTION balance_change_pending(tenant text, delta bigint)
RETURNS TABLE (available bigint, pending bigint, locked bigint, currency text, notify_below bigint)
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp
BEGIN ATOMIC
    UPDATE balance
    SET pending = balance.pending + delta,
        is_low = coalesce(
            balance.available + balance.pending + delta < balance.notify_below, false
        )
    WHERE tenant_id = tenant AND balance.currency = 'USD'
    RETURNING
        balance.available, balance.pending, balance.locked, balance.currency, balance.notify_below;
END;

-- A balance of zero, unless the tenant has one.
CREATE FUNCTION balance_open(balance_id text, tenant text) RETURNS void
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp
BEGIN ATOMIC
    INSERT INTO balance (id, tenant_id, currency, available, pending, locked, sequence)
    VALUES (balance_id, tenant, 'USD', 0, 0, 0, 0)
    ON CONFLICT (tenant_id, currency) DO NOTHING;
END;

REVOKE ALL ON FUNCTION balance_post, balance_change_pending, balance_open FROM PUBLIC;
