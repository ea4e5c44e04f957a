-- The session with this key, which is the digest of a browser's secret, before anybody is known.
-- One row, of NULLs if there is no such session. Nobody else reads what sessions hold (decision
-- 0197). Rights: `manage.py database_roles`.
CREATE FUNCTION tenants_find_session(
    wanted text, OUT session_data text, OUT expire_date timestamptz
)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp
AS $$
BEGIN
    SELECT found.session_data, found.expire_date INTO session_data, expire_date
    FROM django_session AS found WHERE found.session_key = wanted;
END
$$;

REVOKE ALL ON FUNCTION tenants_find_session FROM PUBLIC;
