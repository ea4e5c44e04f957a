"""The steps of dishonored returns. `0023` looks at the lines that are there."""

from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('balance', '0021_steps_of_statements'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='operatorline',
            name='operator_line_has_its_tenant',
        ),
        migrations.RemoveConstraint(
            model_name='operatorline',
            name='operator_line_is_sound',
        ),
        migrations.RemoveConstraint(
            model_name='operatorline',
            name='operator_line_has_its_rail',
        ),
        migrations.AlterField(
            model_name='operatorday',
            name='step',
            field=models.CharField(choices=[('in_settled', 'Money in, settled'), ('in_final', 'Money in, final'), ('in_returned', 'Money in, returned'), ('in_returned_late', 'Money in, returned late'), ('in_charged', 'Money in, charged back'), ('in_dishonored', 'Money in, return dishonored'), ('in_credited_again', 'Money in, credited again'), ('in_contested', 'Money in, dishonor contested'), ('in_charged_again', 'Money in, charged back again'), ('out_settled', 'Money out, settled'), ('out_final', 'Money out, final'), ('out_returned', 'Money out, returned'), ('out_returned_late', 'Money out, returned late'), ('out_given_back', 'Money out, given back'), ('out_dishonored', 'Money out, return dishonored'), ('out_charged_again', 'Money out, charged again'), ('out_contested', 'Money out, dishonor contested'), ('out_given_back_again', 'Money out, given back again'), ('verification_paid', 'Verification, paid'), ('verification_collected', 'Verification, collected'), ('adjusted_up', 'Adjustment, up'), ('adjusted_down', 'Adjustment, down'), ('fee_charged', 'Fee of the bank'), ('fee_refunded', 'Fee given back by the bank'), ('suspense_credited', 'Unknown credit at the bank'), ('suspense_debited', 'Unknown debit at the bank'), ('cleared_as_fee', 'Unknown debit: a fee of the bank'), ('cleared_as_income', 'Unknown credit: income'), ('cleared_credit', 'Unknown credit: a transfer of ours'), ('cleared_debit', 'Unknown debit: a transfer of ours')], max_length=24),
        ),
        migrations.AlterField(
            model_name='operatorline',
            name='step',
            field=models.CharField(choices=[('in_settled', 'Money in, settled'), ('in_final', 'Money in, final'), ('in_returned', 'Money in, returned'), ('in_returned_late', 'Money in, returned late'), ('in_charged', 'Money in, charged back'), ('in_dishonored', 'Money in, return dishonored'), ('in_credited_again', 'Money in, credited again'), ('in_contested', 'Money in, dishonor contested'), ('in_charged_again', 'Money in, charged back again'), ('out_settled', 'Money out, settled'), ('out_final', 'Money out, final'), ('out_returned', 'Money out, returned'), ('out_returned_late', 'Money out, returned late'), ('out_given_back', 'Money out, given back'), ('out_dishonored', 'Money out, return dishonored'), ('out_charged_again', 'Money out, charged again'), ('out_contested', 'Money out, dishonor contested'), ('out_given_back_again', 'Money out, given back again'), ('verification_paid', 'Verification, paid'), ('verification_collected', 'Verification, collected'), ('adjusted_up', 'Adjustment, up'), ('adjusted_down', 'Adjustment, down'), ('fee_charged', 'Fee of the bank'), ('fee_refunded', 'Fee given back by the bank'), ('suspense_credited', 'Unknown credit at the bank'), ('suspense_debited', 'Unknown debit at the bank'), ('cleared_as_fee', 'Unknown debit: a fee of the bank'), ('cleared_as_income', 'Unknown credit: income'), ('cleared_credit', 'Unknown credit: a transfer of ours'), ('cleared_debit', 'Unknown debit: a transfer of ours')], max_length=24),
        ),
        AddConstraintNotValid(
            model_name='operatorline',
            constraint=models.CheckConstraint(condition=models.Q(('amount__gte', 1), ('amount__lte', 1000000000000000), ('step__in', ['in_settled', 'in_final', 'in_returned', 'in_returned_late', 'in_charged', 'in_dishonored', 'in_credited_again', 'in_contested', 'in_charged_again', 'out_settled', 'out_final', 'out_returned', 'out_returned_late', 'out_given_back', 'out_dishonored', 'out_charged_again', 'out_contested', 'out_given_back_again', 'verification_paid', 'verification_collected', 'adjusted_up', 'adjusted_down', 'fee_charged', 'fee_refunded', 'suspense_credited', 'suspense_debited', 'cleared_as_fee', 'cleared_as_income', 'cleared_credit', 'cleared_debit'])), name='operator_line_is_sound'),
        ),
        AddConstraintNotValid(
            model_name='operatorline',
            constraint=models.CheckConstraint(condition=models.Q(('tenant__isnull', False), models.Q(('step__in', ['in_final', 'in_charged', 'in_credited_again', 'in_charged_again', 'out_final', 'out_given_back', 'out_charged_again', 'out_given_back_again', 'adjusted_up', 'adjusted_down']), _negated=True), _connector='OR'), name='operator_line_has_its_tenant'),
        ),
        AddConstraintNotValid(
            model_name='operatorline',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('rail', ''), _negated=True), models.Q(('step__in', ['in_settled', 'in_returned', 'in_returned_late', 'in_dishonored', 'in_contested', 'out_settled', 'out_returned', 'out_returned_late', 'out_dishonored', 'out_contested', 'verification_paid', 'verification_collected', 'fee_charged', 'fee_refunded', 'suspense_credited', 'suspense_debited', 'cleared_credit', 'cleared_debit']), _negated=True), _connector='OR'), name='operator_line_has_its_rail'),
        ),
    ]
