-- Whose approval the link with this digest is about: one row, because no tenant is known before
-- (decision 0191). Rights: `manage.py database_roles`.
CREATE FUNCTION payments_find_link(wanted text)
RETURNS TABLE (tenant text)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp
AS $$
    SELECT approval.tenant_id
    FROM payments_paymentconfirmationlink AS link JOIN payments_paymentconfirmation AS approval ON approval.id = link.confirmation_id
    WHERE link.digest = wanted
$$;

REVOKE ALL ON FUNCTION payments_find_link FROM PUBLIC;
