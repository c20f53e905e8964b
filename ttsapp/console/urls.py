from django.urls import path

from ttsapp.console import money_urls, place_urls, voice_urls
from ttsapp.console.views import (
    home,
    key_ends,
    keys,
    members,
    overview,
    playground,
    recordings,
    requests,
    settings,
    start,
    usage,
)

app_name = "console"

urlpatterns = [
    *money_urls.of_tenant,
    *place_urls.of_tenant,
    *voice_urls.routes,
    path("", home.home, name="home"),
    path("<slug:slug>", overview.overview, name="overview"),
    path("<slug:slug>/playground", playground.playground, name="playground"),
    path("<slug:slug>/speak", playground.speak, name="speak"),
    path("<slug:slug>/takes/<uuid:wanted>", playground.take, name="take"),
    path("<slug:slug>/requests", requests.requests, name="requests"),
    path("<slug:slug>/requests.csv", requests.requests_csv, name="requests_csv"),
    path("<slug:slug>/requests/<uuid:wanted>", requests.request_detail, name="request"),
    path("<slug:slug>/requests/<uuid:wanted>/text", requests.request_text, name="request_text"),
    path("<slug:slug>/requests/<uuid:wanted>/audio", recordings.recording, name="recording"),
    path("<slug:slug>/keys", keys.keys, name="keys"),
    path("<slug:slug>/keys.csv", keys.keys_csv, name="keys_csv"),
    path("<slug:slug>/keys/unused", key_ends.unused_keys, name="unused_keys"),
    path("<slug:slug>/keys/<slug:public_id>", keys.new_key, name="new_key"),
    path("<slug:slug>/keys/<slug:public_id>/change", keys.change_key, name="change_key"),
    path("<slug:slug>/keys/<slug:public_id>/rotate", keys.rotate_key, name="rotate_key"),
    path("<slug:slug>/keys/<slug:public_id>/revoke", key_ends.revoke_key, name="revoke_key"),
    path("<slug:slug>/members", members.members, name="members"),
    path("<slug:slug>/members.csv", members.members_csv, name="members_csv"),
    path("<slug:slug>/members/<int:member_id>", members.member, name="member"),
    path("<slug:slug>/members/<int:member_id>/remove", members.remove_member, name="remove_member"),
    path(
        "<slug:slug>/invitations/<int:invitation_id>/withdraw",
        members.withdraw,
        name="withdraw_invitation",
    ),
    path("<slug:slug>/usage", usage.usage, name="usage"),
    path("<slug:slug>/usage.csv", usage.usage_csv, name="usage_csv"),
    path("<slug:slug>/settings", settings.settings, name="settings"),
    path("<slug:slug>/start", start.start, name="start"),
]
