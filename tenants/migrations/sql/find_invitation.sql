-- The id of the invitation whose link has this digest; NULL if there is none. No tenant is known
-- before (decision 0197). Rights: `manage.py database_roles`.
CREATE FUNCTION tenants_find_invitation(wanted text)
RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp
AS $$
    SELECT found.id FROM tenants_invitation AS found
    WHERE found.digest = wanted AND found.digest <> ''
$$;

REVOKE ALL ON FUNCTION tenants_find_invitation FROM PUBLIC;
