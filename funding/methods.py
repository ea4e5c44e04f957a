"""How money can be brought in, in one table: a new method is an entry here and an adapter."""

from __future__ import annotations

from django.conf import settings

from funding.models import FundingMethod
from networks import schemes
from networks.base import Method
from transfers.methods import Methods, TransferMethod, in_sentences

METHODS = Methods(
    TransferMethod(
        name=FundingMethod.ACH_DEBIT,
        network_method=Method.ACH_DEBIT,
        words=in_sentences(FundingMethod.ACH_DEBIT),
        usual_terms=schemes.ACH_DEBIT,
        deployment_max=lambda: settings.ACH_AMOUNT_MAX,
        is_standard=True,
    ),
    TransferMethod(
        name=FundingMethod.RTP,
        network_method=Method.RTP_REQUEST,  # RTP cannot pull: it asks the account holder to push
        words=in_sentences(FundingMethod.RTP),
        usual_terms=schemes.INSTANT,
        deployment_max=lambda: settings.RTP_AMOUNT_MAX,
        is_standard=True,
    ),
)
