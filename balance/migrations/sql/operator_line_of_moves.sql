-- What a line of the operator must be, with the steps of own money that is moved (decision 0224).
CREATE OR REPLACE FUNCTION balance_operator_line_is_sound(
    step text, amount bigint, rail text, tenant text
) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    RETURN amount BETWEEN 1 AND 1000000000000000 AND CASE
        WHEN step IN (  -- moves a settlement account, which is of a rail
            'in_settled', 'in_returned', 'in_returned_late', 'in_dishonored', 'in_contested',
            'out_settled', 'out_returned', 'out_returned_late', 'out_dishonored', 'out_contested',
            'verification_paid', 'verification_collected',
            'fee_charged', 'fee_refunded', 'suspense_credited', 'suspense_debited',
            'cleared_credit', 'cleared_debit', 'moved_in', 'moved_out'
        ) THEN rail <> ''
        WHEN step IN (  -- the other leg of bank clearing is a tenant's line
            'in_final', 'in_charged', 'in_credited_again', 'in_charged_again',
            'out_final', 'out_given_back', 'out_charged_again', 'out_given_back_again',
            'adjusted_up', 'adjusted_down'
        ) THEN tenant IS NOT NULL
        ELSE step IN ('cleared_as_fee', 'cleared_as_income')
    END;
END
$$;
