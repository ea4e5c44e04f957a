"""The team page: everybody looks, owners act."""

from __future__ import annotations

from datetime import timedelta

import pytest
from allauth.mfa.totp.internal.auth import TOTP

from common.clock import utc_now
from dashboard.templatetags.ballast import moment
from payments.services import orders
from tenants import actors
from tenants.models import ApiKey, Invitation, Membership, Mode, OutgoingEmail, Role
from tenants.services import invitations, keys
from tests.builders import browser_of, make_member, make_tenant, stored_invitation
from tests.payments.builders import account


@pytest.fixture
def lee(acme):
    return make_member(acme, email="lee@acme.example", role=Role.MEMBER)


@pytest.fixture
def asked(acme):
    return invite(acme, "nell@acme.example")


def invite(tenant, email):
    return invitations.invite(
        tenant_id=tenant.pk, email=email, role=Role.VIEWER, actor=actors.SYSTEM, now=utc_now()
    )


def of(user):
    return Membership.objects.get(user=user)


def post(browser, tenant, path, **fields):
    return browser.post(f"/dashboard/team{path}", {"acting_for": tenant.pk, **fields}, follow=True)


class TestPage:
    def test_shows_people_roles_and_how_they_sign_in(self, dana_browser, dana, lee, ravi):
        TOTP.activate(dana, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")

        content = dana_browser.get("/dashboard/team").content.decode()

        assert "dana@acme.example" in content
        assert "lee@acme.example" in content
        assert "ravi@rival.example" not in content
        assert content.count('badge--good">Second factor</span>') == 1
        assert content.count('badge--warn">Password only</span>') == 1

    def test_shows_invitations_to_owners_alone(self, dana_browser, lee, asked, sign_in):
        assert b"nell@acme.example" in dana_browser.get("/dashboard/team").content
        assert b"nell@acme.example" not in sign_in(lee).get("/dashboard/team").content

    def test_warns_of_an_address_that_is_not_what_it_seems(self, acme, dana_browser, asked):
        assert "Look at the addresses" not in dana_browser.get("/dashboard/team").content.decode()
        invite(acme, "nell@\u0430cme.example")

        content = dana_browser.get("/dashboard/team").content.decode()

        assert "(nell@xn--cme-5cd.example)" in content
        assert "Look at the addresses" in content


class TestInviting:
    def test_sends_one(self, acme, dana_browser):
        page = post(dana_browser, acme, "/invite", email="new@acme.example", role="viewer")

        assert "The invitation to new@acme.example is sent." in page.content.decode()
        invitation = Invitation.objects.get()
        assert (invitation.tenant, invitation.email) == (acme, "new@acme.example")
        assert invitation.role == Role.VIEWER
        assert OutgoingEmail.objects.get().to == "new@acme.example"

    @pytest.mark.parametrize(
        ("fields", "told"),
        [
            ({"email": "", "role": "viewer"}, "Enter the e-mail address to invite."),
            ({"email": "nobody", "role": "viewer"}, "Check the address."),
            ({"email": "new@acme.example"}, "Choose a role."),
            ({"email": "new@acme.example", "role": "king"}, "is not one of the choices"),
            ({"email": "dana@acme.example", "role": "viewer"}, "is a member already"),
        ],
    )
    def test_says_what_is_wrong(self, acme, dana_browser, fields, told):
        page = post(dana_browser, acme, "/invite", **fields)

        assert page.status_code == 422
        assert told in page.content.decode()
        assert not Invitation.objects.exists()

    def test_is_revoked(self, acme, dana_browser, asked):
        page = post(dana_browser, acme, f"/invitations/{asked.pk}/revoke")

        assert "is revoked" in page.content.decode()
        assert Invitation.objects.get(pk=asked.pk).revoked_at is not None

    def test_is_sent_again(self, acme, dana_browser, asked):
        Invitation.objects.update(expires_at=utc_now() + timedelta(days=1))  # six days later
        old = stored_invitation()

        page = post(dana_browser, acme, f"/invitations/{asked.pk}/resend")

        assert "gets a new link" in page.content.decode()
        new = stored_invitation()
        assert {name for name in new if new[name] != old[name]} == {"expires_at", "invited_by_id"}
        assert [mail.to for mail in OutgoingEmail.objects.all()] == ["nell@acme.example"] * 2

    def test_that_was_sent_within_a_minute_is_not_sent_again_and_the_page_says_so(
        self, acme, dana_browser, asked
    ):
        before = stored_invitation()

        page = post(dana_browser, acme, f"/invitations/{asked.pk}/resend").content.decode()

        said = "nell@acme.example was sent a link within the last minute, so no new one was sent."
        assert said in page
        assert "gets a new link" not in page
        assert stored_invitation() == before
        assert OutgoingEmail.objects.count() == 1

    def test_is_sent_a_limited_number_of_times_a_day(self, acme, dana_browser, asked):
        mailed = OutgoingEmail.objects.get()
        OutgoingEmail.objects.bulk_create(
            OutgoingEmail(
                tenant=acme,
                to=mailed.to,
                template=mailed.template,
                context={},
                created_at=mailed.created_at,
            )
            for _ in range(invitations.MAILS_A_DAY_MAX - 1)
        )
        Invitation.objects.update(expires_at=utc_now() + timedelta(days=1))

        page = post(dana_browser, acme, f"/invitations/{asked.pk}/resend")

        assert "200 invitations were mailed within a day" in page.content.decode()
        assert OutgoingEmail.objects.count() == invitations.MAILS_A_DAY_MAX

    @pytest.mark.parametrize("act", ["revoke", "resend"])
    def test_of_another_tenant_is_not_found(self, rival, ravi, sign_in, asked, act):
        before = stored_invitation()

        page = post(sign_in(ravi), rival, f"/invitations/{asked.pk}/{act}")

        assert page.status_code == 404
        assert stored_invitation() == before
        assert OutgoingEmail.objects.count() == 1


class TestRoles:
    def test_change(self, acme, dana, dana_browser, lee):
        page = post(dana_browser, acme, f"/{of(lee).pk}/role", role="approver")

        assert "lee@acme.example is now approver." in page.content.decode()
        assert of(lee).role == Role.APPROVER
        assert of(dana).role == Role.OWNER

    def test_says_from_when_a_new_approver_of_a_live_tenant_can_approve(self, db, sign_in):
        live = make_tenant(name="Acme Live", mode=Mode.LIVE)
        owner = make_member(live, email="dana@live.example", role=Role.OWNER)
        nell = make_member(live, email="nell@live.example", role=Role.VIEWER)
        olga = make_member(live, email="olga@live.example", role=Role.OWNER)
        browser = sign_in(owner)

        asked = browser.get(f"/dashboard/team/{of(nell).pk}/role").content.decode()
        said = post(browser, live, f"/{of(nell).pk}/role", role="approver").content.decode()

        assert "It changes at once" not in asked
        assert "can approve payments 24 hours later" in asked
        assert f"can approve payments from {moment(of(nell).approves_from)}" in said
        again = browser.get(f"/dashboard/team/{of(nell).pk}/role").content.decode()
        assert f">{moment(of(nell).approves_from)}</time>" in again
        who_approves = browser.get(f"/dashboard/team/{of(olga).pk}/role").content.decode()
        assert "24 hours" not in who_approves

    def test_says_nothing_of_a_wait_where_there_is_none(self, acme, dana_browser, dana, lee):
        asked = dana_browser.get(f"/dashboard/team/{of(lee).pk}/role").content.decode()
        said = post(dana_browser, acme, f"/{of(lee).pk}/role", role="approver").content.decode()

        assert "24 hours" not in asked
        assert "is now approver." in said
        assert "approve payments from" not in said

    def test_tells_who_invites_that_new_approvers_wait(self, dana_browser, sign_in):
        live = make_tenant(name="Acme Live", mode=Mode.LIVE)
        owner = make_member(live, email="dana@live.example", role=Role.OWNER)

        asked = sign_in(owner).get("/dashboard/team/invite").content.decode()

        assert "can approve payments 24 hours after" in asked
        assert "24 hours" not in dana_browser.get("/dashboard/team/invite").content.decode()

    def test_of_the_last_owner_stays(self, acme, dana, dana_browser):
        page = post(dana_browser, acme, f"/{of(dana).pk}/role", role="viewer")

        assert page.status_code == 422
        assert "at least one owner" in page.content.decode()
        assert of(dana).role == Role.OWNER

    def test_of_the_only_owner_are_explained_instead_of_offered(
        self, acme, dana, dana_browser, lee
    ):
        content = dana_browser.get("/dashboard/team").content.decode()

        assert "The only owner." in content
        assert f"/dashboard/team/{of(dana).pk}/" not in content
        assert f"/dashboard/team/{of(lee).pk}/role" in content

    def test_of_one_owner_among_two_are_offered(self, acme, dana, dana_browser):
        make_member(acme, email="olga@acme.example", role=Role.OWNER)

        content = dana_browser.get("/dashboard/team").content.decode()

        assert "The only owner." not in content
        assert f"/dashboard/team/{of(dana).pk}/remove" in content

    def test_show_the_one_in_force(self, dana_browser, lee):
        response = dana_browser.get(f"/dashboard/team/{of(lee).pk}/role")

        assert response.context["form"]["role"].value() == "member"

    @pytest.mark.parametrize("act", ["role", "remove"])
    def test_of_another_tenant_are_not_found(self, rival, ravi, sign_in, lee, act):
        browser = sign_in(ravi)

        assert browser.get(f"/dashboard/team/{of(lee).pk}/{act}").status_code == 404
        assert post(browser, rival, f"/{of(lee).pk}/{act}", role="viewer").status_code == 404
        assert of(lee).role == Role.MEMBER


class TestRemoving:
    def test_asks_first_and_then_ends_access(self, acme, dana, dana_browser, lee, sign_in):
        browser = sign_in(lee)
        assert b"loses access" in dana_browser.get(f"/dashboard/team/{of(lee).pk}/remove").content

        post(dana_browser, acme, f"/{of(lee).pk}/remove")

        assert browser.get("/dashboard/").status_code == 403
        assert list(Membership.objects.values_list("user", flat=True)) == [dana.pk]

    def test_the_last_owner_is_refused(self, acme, dana, dana_browser):
        page = post(dana_browser, acme, f"/{of(dana).pk}/remove")

        assert "at least one owner" in page.content.decode()
        assert of(dana).role == Role.OWNER


class TestSecondFactorRule:
    def test_is_not_set_by_who_has_none(self, acme, dana_browser):
        page = post(dana_browser, acme, "/sign-in-rule", required="yes")

        assert "Set up your own" in page.content.decode()
        acme.refresh_from_db()
        assert not acme.requires_second_factor

    def test_keeps_members_out_until_they_have_one(self, acme, dana, lee, sign_in):
        TOTP.activate(dana, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
        dana_browser = browser_of(dana, factor="totp")
        post(dana_browser, acme, "/sign-in-rule", required="yes")
        browser = sign_in(lee)

        refused = browser.get("/dashboard/transactions")
        assert refused.status_code == 403
        assert b"/accounts/2fa/" in refused.content
        assert b"requires a second factor" in refused.content
        assert browser.get("/accounts/2fa/").status_code == 200
        assert dana_browser.get("/dashboard/transactions").status_code == 200

        TOTP.activate(lee, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
        still = browser.get("/dashboard/transactions")
        assert still.status_code == 403
        assert b"/accounts/2fa/reauthenticate/?next=/dashboard/transactions" in still.content
        assert browser_of(lee, factor="totp").get("/dashboard/transactions").status_code == 200

    def test_lets_them_go_to_another_tenant(self, acme, lee, sign_in):
        acme.requires_second_factor = True
        acme.save(update_fields=["requires_second_factor"])
        other = make_tenant(name="Zephyr")
        make_member(other, email=lee.email, role=Role.VIEWER)
        browser = sign_in(lee)
        assert browser.get("/dashboard/").status_code == 403

        browser.post("/dashboard/tenant", {"tenant": other.pk})

        assert browser.get("/dashboard/").status_code == 200


class TestKeysOfWhoLeaves:
    @pytest.fixture
    def lee(self, acme, dana):
        return make_member(acme, email="lee@acme.example", role=Role.OWNER)

    @pytest.fixture
    def made(self, acme, lee):
        return [
            keys.issue(tenant=acme, name=name, actor=actors.user(lee.pk), now=utc_now()).key
            for name in ("server", "reports")
        ]

    def test_are_listed_before_the_removal(self, dana_browser, made, lee):
        page = dana_browser.get(f"/dashboard/team/{of(lee).pk}/remove").content.decode()

        for key in made:
            assert key.name in page
            assert f'name="take_over" value="{key.pk}"' in page

    def test_are_revoked_or_taken_over_as_was_ticked(self, acme, dana, dana_browser, made, lee):
        kept, left = made

        page = post(dana_browser, acme, f"/{of(lee).pk}/remove", take_over=[kept.pk])

        said = "1 API key is revoked. 1 API key is taken over by you."
        assert f"lee@acme.example is no longer on the team. {said}" in page.content.decode()
        left.refresh_from_db()
        kept.refresh_from_db()
        assert (kept.revoked_at is None, left.revoked_at is None) == (True, False)
        listed = dana_browser.get("/dashboard/api-keys").content.decode()
        assert "Acts for dana@acme.example" in listed

    def test_cannot_be_taken_over_by_who_leaves(self, acme, dana, lee, made, sign_in):
        browser = sign_in(lee)

        page = browser.get(f"/dashboard/team/{of(lee).pk}/remove").content.decode()
        post(browser, acme, f"/{of(lee).pk}/remove")

        assert "server" in page
        assert "take_over" not in page
        assert not ApiKey.objects.filter(revoked_at=None).exists()

    def test_are_listed_before_a_demotion_and_taken_over_as_was_ticked(
        self, acme, dana, dana_browser, made, lee
    ):
        """Found: the keys of an owner who became a member went on."""
        kept, left = made
        path = f"/{of(lee).pk}/role"

        asked = dana_browser.get(f"/dashboard/team{path}").content.decode()
        post(dana_browser, acme, path, role="member", take_over=[kept.pk])

        assert f'name="take_over" value="{left.pk}"' in asked
        assert "This applies to every role except owner." in asked
        usable = ApiKey.objects.filter(revoked_at=None).values_list("pk", flat=True)
        assert list(usable) == [kept.pk]
        listed = dana_browser.get("/dashboard/api-keys").content.decode()
        assert "Acts for dana@acme.example" in listed

    def test_are_not_taken_over_by_who_demotes_themselves(self, acme, lee, made, sign_in):
        browser = sign_in(lee)

        page = browser.get(f"/dashboard/team/{of(lee).pk}/role").content.decode()
        post(browser, acme, f"/{of(lee).pk}/role", role="viewer")

        assert "server" in page
        assert "take_over" not in page
        assert not ApiKey.objects.filter(revoked_at=None).exists()


class TestPaymentsOfWhoLeaves:
    """Found: what waited for money left unasked after whoever ordered it had been removed."""

    @pytest.fixture
    def lee(self, acme, dana):
        return make_member(acme, email="lee@acme.example", role=Role.OWNER)

    @pytest.fixture
    def ordered(self, acme, dana, lee):
        """Lee's payments, which wait for money; Dana's is not among them."""
        everybody = (("Gone LLC", lee), ("Stays LLC", lee), ("Danas LLC", dana))
        return [
            orders.place(
                tenant_id=acme.pk,
                mode=acme.mode,
                order=orders.Order(
                    amount=75_000, recipient=account(holder_name=name), wait_for_funds=True
                ),
                actor=actors.user(person.pk),
                now=utc_now(),
            )
            for name, person in everybody
        ][:2]

    @pytest.mark.parametrize("page", ["remove", "role"])
    def test_are_listed_before(self, dana_browser, ordered, lee, page):
        text = dana_browser.get(f"/dashboard/team/{of(lee).pk}/{page}").content.decode()

        for payment in ordered:
            assert f'name="cancel" value="{payment.pk}"' in text
        assert "$750.00 to Gone LLC" in text
        assert "Payments they ordered that are not sent yet" in text
        assert "Danas LLC" not in text

    def test_are_canceled_as_was_ticked_and_wait_otherwise(self, acme, dana_browser, ordered, lee):
        gone, stays = ordered

        page = post(dana_browser, acme, f"/{of(lee).pk}/remove", cancel=[gone.pk])

        said = "Payments that wait for approval: 1. Payments canceled: 1."
        assert f"lee@acme.example is no longer on the team. {said}" in page.content.decode()
        for payment in ordered:
            payment.refresh_from_db()
        assert (gone.status, stays.awaits_confirmation) == ("canceled", True)
        log = dana_browser.get("/dashboard/audit-log").content.decode()
        why = "Whoever ordered this was removed from the team afterwards"
        assert f"wait for a second person. {why}, so somebody else approves it." in log
        waiting = dana_browser.get("/dashboard/approvals").content.decode()
        assert "Stays LLC" in waiting
        box = dana_browser.get(f"/dashboard/payments/{stays.pk}").content.decode()
        box = box[box.index("Waiting for approval") : box.index("See the request")]
        for shown in (waiting, box):
            assert f"<p>{why}, so somebody else approves it." in shown

    def test_wait_after_a_demotion_too(self, acme, dana_browser, ordered, lee):
        post(dana_browser, acme, f"/{of(lee).pk}/role", role="viewer", cancel=[ordered[0].pk])

        for payment in ordered:
            payment.refresh_from_db()
        assert [row.status for row in ordered] == ["canceled", "waiting_for_funds"]
        assert ordered[1].awaits_confirmation

    def test_more_than_a_page_shows_wait_too(self, acme, dana_browser, ordered, lee, monkeypatch):
        monkeypatch.setattr("dashboard.team.views.PAYMENTS_SHOWN_MAX", 1)

        text = dana_browser.get(f"/dashboard/team/{of(lee).pk}/remove").content.decode()

        assert text.count('name="cancel"') == 1
        assert "One more payment, which is not shown, waits for approval as well." in text


class TestAnImitatedName:
    """Who removes a member or takes over a key decides by a name that somebody else chose."""

    IMITATED = "\u0410cme"  # a Cyrillic A
    WARNING = f"“{IMITATED}” contains the Cyrillic letter “{IMITATED[0]}”"

    def test_of_a_key_is_said_before_it_is_taken_over(self, acme, dana_browser):
        lee = make_member(acme, email="lee@acme.example", role=Role.OWNER)
        path = f"/dashboard/team/{of(lee).pk}/remove"
        assert self.WARNING not in dana_browser.get(path).content.decode()

        name = f"{self.IMITATED} billing"
        keys.issue(tenant=acme, name=name, actor=actors.user(lee.pk), now=utc_now())

        assert self.WARNING in dana_browser.get(path).content.decode()

    @pytest.mark.parametrize("part", ["", "/{id}/role", "/{id}/remove"])
    def test_of_a_member_is_said_before_a_change(self, lee, dana_browser, part):
        lee.name = self.IMITATED
        lee.save(update_fields=("name",))

        page = dana_browser.get(f"/dashboard/team{part.format(id=of(lee).pk)}")

        assert self.WARNING in page.content.decode()
