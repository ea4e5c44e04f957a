"""How money can be paid out, in one table: a new method is an entry here and an adapter."""

from __future__ import annotations

from django.conf import settings

from networks import schemes
from networks.base import Method
from payments.models import PaymentMethod
from transfers.methods import Methods, TransferMethod, in_sentences

METHODS = Methods(
    TransferMethod(
        name=PaymentMethod.ACH_CREDIT,
        network_method=Method.ACH_CREDIT,
        words=in_sentences(PaymentMethod.ACH_CREDIT),
        usual_terms=schemes.ACH_CREDIT,
        deployment_max=lambda: settings.PAYMENT_AMOUNT_MAX["ach_credit"],
        is_standard=True,
    ),
    TransferMethod(
        name=PaymentMethod.RTP,
        network_method=Method.RTP_CREDIT,
        words=in_sentences(PaymentMethod.RTP),
        usual_terms=schemes.INSTANT,
        deployment_max=lambda: settings.PAYMENT_AMOUNT_MAX["rtp"],
        is_standard=True,
    ),
)
