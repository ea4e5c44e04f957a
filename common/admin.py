"""Shared pieces of the staff desk."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from unfold.admin import ModelAdmin, TabularInline

from common.errors import DomainError


class ReadOnlyAdmin(ModelAdmin):
    """Staff look; changes go through services, which check, audit and tell."""

    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False


class ReadOnlyInline(TabularInline):
    """Rows that belong to the one shown, to look at."""

    extra = 0
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False


class ServiceAdmin(ModelAdmin):
    """Staff change things through a service; what it refuses is told and nothing is saved."""

    show_full_result_count = False

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            answer: HttpResponse = super().changeform_view(request, *args, **kwargs)
        except DomainError as refusal:
            messages.error(request, f"{refusal.title}. {refusal.detail}")
            return HttpResponseRedirect(request.get_full_path())
        return answer

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False
