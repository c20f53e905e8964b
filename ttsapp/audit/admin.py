from django.contrib import admin

from ttsapp.audit.models import AuditEntry
from ttsapp.typed_admin import ReadOnlyAdmin


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnlyAdmin[AuditEntry]):
    list_display = ("at", "tenant", "actor", "action", "target")
    list_filter = ("tenant",)
    search_fields = ("actor", "target")
    date_hierarchy = "at"
