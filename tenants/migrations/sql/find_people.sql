-- People whom rows of a tenant name, members or not any more: a request sees the members alone.
-- Rights: `manage.py database_roles`.

-- Who these are, for whoever holds their ids, which nobody can guess.
CREATE FUNCTION tenants_name_people(wanted text[])
RETURNS TABLE (id text, email text, is_staff boolean)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp
AS $$
    SELECT person.id, person.email, person.is_staff
    FROM tenants_user AS person WHERE person.id = ANY (wanted)
$$;

REVOKE ALL ON FUNCTION tenants_name_people FROM PUBLIC;

-- Whose address this is, if the person is a member of the tenant or acted in it.
CREATE FUNCTION tenants_find_person(address text, tenant text)
RETURNS TABLE (id text)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp
AS $$
    SELECT person.id FROM tenants_user AS person
    WHERE person.email = address AND (
        EXISTS (
            SELECT FROM tenants_membership AS member
            WHERE member.user_id = person.id AND member.tenant_id = tenant
        )
        OR EXISTS (
            SELECT FROM tenants_auditevent AS event
            WHERE event.tenant_id = tenant AND event.actor_id = person.id
        )
    )
$$;

REVOKE ALL ON FUNCTION tenants_find_person FROM PUBLIC;
