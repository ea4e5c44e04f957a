"""What people do about their own account, whatever their tenants."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from common.clock import utc_now
from dashboard.access import PersonRequest
from tenants.services import sessions


@require_POST
@login_required
def end_session(request: PersonRequest, session_id: int) -> HttpResponse:
    """Sign another browser of this person out. One that is gone already is fine."""
    sessions.end(user_id=request.user.pk, session_id=session_id, now=utc_now())
    messages.success(request, "That browser is signed out.")
    return redirect("usersessions_list")
