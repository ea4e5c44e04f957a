-- Whether the person chose a password, for whoever may not read its hash (decision 0191). Django
-- marks one that nothing opens by "!". Rights: `manage.py database_roles`.
CREATE FUNCTION tenants_has_password(person text)
RETURNS TABLE (is_set boolean)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp
AS $$
    SELECT found.password <> '' AND left(found.password, 1) <> '!'
    FROM tenants_user AS found WHERE found.id = person
$$;

REVOKE ALL ON FUNCTION tenants_has_password FROM PUBLIC;
