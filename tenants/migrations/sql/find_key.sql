-- The API key with this prefix and its tenant, before there is a tenant whose rows could be seen.
-- One row, of NULLs if there is no such key. Rights: `manage.py database_roles`.
CREATE FUNCTION tenants_find_key(
    wanted text,
    OUT digest text, OUT revoked_at timestamptz, OUT expires_at timestamptz,
    OUT scopes text[], OUT allowed_networks text[], OUT id text, OUT tenant_id text,
    OUT mode text, OUT is_suspended boolean, OUT is_read_only boolean,
    OUT reads_per_second integer, OUT writes_per_second integer, OUT last_used_at timestamptz
)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp
AS $$
BEGIN
    SELECT
        found.digest, found.revoked_at, found.expires_at, found.scopes, found.allowed_networks,
        found.id, found.tenant_id, tenant.mode, tenant.status = 'suspended',
        EXISTS (
            SELECT FROM tenants_switch AS switch
            WHERE switch.kind = 'read_only' AND switch.released_at IS NULL
                AND (switch.tenant_id IS NULL OR switch.tenant_id = found.tenant_id)
        ),
        found.reads_per_second, found.writes_per_second, found.last_used_at
    INTO
        digest, revoked_at, expires_at, scopes, allowed_networks, id, tenant_id, mode,
        is_suspended, is_read_only, reads_per_second, writes_per_second, last_used_at
    FROM tenants_apikey AS found JOIN tenants_tenant AS tenant ON tenant.id = found.tenant_id
    WHERE found.prefix = wanted;
END
$$;

REVOKE ALL ON FUNCTION tenants_find_key FROM PUBLIC;
