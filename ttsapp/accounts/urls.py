"""The library's views, of those that are offered, at addresses of ours and under its names."""

from allauth.account.views import password_change, reauthenticate
from allauth.mfa.base import views as mfa
from allauth.mfa.recovery_codes import views as codes
from allauth.mfa.totp import views as totp
from allauth.mfa.webauthn import views as passkeys
from allauth.socialaccount.providers.openid_connect import views as oidc
from allauth.socialaccount.views import login_cancelled, login_error
from django.conf import settings
from django.contrib.auth.views import LogoutView
from django.urls import path

from ttsapp.accounts.invitation import invitation
from ttsapp.accounts.views import SignIn

urlpatterns = [
    path("console/login", SignIn.as_view(), name="account_login"),
    path("console/logout", LogoutView.as_view(), name="account_logout"),
    path("account/invitation/<str:token>", invitation, name="invitation"),
    path("account", mfa.index, name="mfa_index"),
    path("account/password", password_change, name="account_change_password"),
    path("account/sign-in/code", mfa.authenticate, name="mfa_authenticate"),
    path("account/sign-in/passkey", passkeys.login_webauthn, name="mfa_login_webauthn"),
    path("account/confirm", reauthenticate, name="account_reauthenticate"),
    path("account/confirm/code", mfa.reauthenticate, name="mfa_reauthenticate"),
    path(
        "account/confirm/passkey",
        passkeys.reauthenticate_webauthn,
        name="mfa_reauthenticate_webauthn",
    ),
    path("account/app/add", totp.activate_totp, name="mfa_activate_totp"),
    path("account/app/remove", totp.deactivate_totp, name="mfa_deactivate_totp"),
    path("account/codes", codes.view_recovery_codes, name="mfa_view_recovery_codes"),
    path("account/codes/new", codes.generate_recovery_codes, name="mfa_generate_recovery_codes"),
    path("account/codes/file", codes.download_recovery_codes, name="mfa_download_recovery_codes"),
    path("account/passkeys", passkeys.list_webauthn, name="mfa_list_webauthn"),
    path("account/passkeys/add", passkeys.add_webauthn, name="mfa_add_webauthn"),
    path("account/passkeys/<int:pk>/remove", passkeys.remove_webauthn, name="mfa_remove_webauthn"),
]

if settings.OIDC:
    urlpatterns += [
        path("account/oidc/<slug:provider_id>", oidc.login, name="openid_connect_login"),
        path("account/oidc/<slug:provider_id>/back", oidc.callback, name="openid_connect_callback"),
        path("account/oidc-cancelled", login_cancelled, name="socialaccount_login_cancelled"),
        path("account/oidc-failed", login_error, name="socialaccount_login_error"),
    ]
