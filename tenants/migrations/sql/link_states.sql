-- What links of a person hang on: digests, so that who makes a link needs no password's hash and no
-- second factor's id (decision 0190). Rights: `manage.py database_roles`.

-- Of whoever holds the person's id: for a new password, and for a first second factor.
CREATE FUNCTION tenants_link_states(person text)
RETURNS TABLE (of_reset text, of_enrolment text)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp
AS $$
    SELECT
        -- Dies with the password, with a sign-in and with another address.
        encode(sha256(convert_to(concat_ws('|', found.id, found.password,
            extract(epoch FROM found.last_login), known.addresses), 'UTF8')), 'hex'),
        -- Dies with the password and with the first factor.
        encode(sha256(convert_to(concat_ws('|', found.id, found.password, known.factors),
            'UTF8')), 'hex')
    FROM tenants_user AS found CROSS JOIN LATERAL (
        SELECT
            (
                SELECT string_agg(own.address, '|' ORDER BY own.address) FROM (
                    SELECT found.email AS address
                    UNION SELECT email FROM account_emailaddress WHERE user_id = found.id
                ) AS own
            ) AS addresses,
            (
                SELECT string_agg(factor.id::text, ',' ORDER BY factor.id)
                FROM mfa_authenticator AS factor WHERE factor.user_id = found.id
            ) AS factors
    ) AS known
    WHERE found.id = person
$$;

REVOKE ALL ON FUNCTION tenants_link_states FROM PUBLIC;

-- Of the person whom a mail brings such a link, while it waits to be sent to their own address.
CREATE FUNCTION tenants_link_state_of_mail(mail text)
RETURNS TABLE (state text)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp
AS $$
    SELECT CASE waiting.template
        WHEN 'password_reset' THEN states.of_reset
        ELSE states.of_enrolment
    END
    FROM tenants_outgoingemail AS waiting
    JOIN tenants_user AS person
        ON person.id = waiting.context ->> 'user_id' AND person.email = waiting."to"
    CROSS JOIN LATERAL tenants_link_states(person.id) AS states
    WHERE waiting.id = mail
        AND waiting.template IN ('password_reset', 'staff_enrolment', 'enrolment')
        AND waiting.next_attempt_at IS NOT NULL
        AND person.is_active
$$;

REVOKE ALL ON FUNCTION tenants_link_state_of_mail FROM PUBLIC;
