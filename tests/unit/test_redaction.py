"""Secrets are replaced, what stands around them and what only looks like one stays."""

from __future__ import annotations

import pytest

from wayfare.redaction import rest, scrub

# Put together here so that no scanner takes this file for a leak.
FAKES = {
    "github": "ghp_" + "A1b2C3" * 6,
    "aws": "AKIA" + "Q7W8" * 4,
    "openai": "sk-proj-" + "aB3dE5" * 5,
    "anthropic": "sk-ant-api03-" + "aB3dE5" * 5,
    "slack": "xoxb-" + "123456789012-abcdefGHIJ",
    "google": "AIza" + "SyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6q",
    "stripe": "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc",
    "gitlab": "glpat-" + "aB3dE5fG7hJ9kL1mN3pQ",
    "npm": "npm_" + "aB3dE5" * 6,
    "hf": "hf_" + "aBcDeF" * 5,
    "jwt": "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0NTY3ODkwIn0." + "dozjgNryP4J3jVmNHl0w5N",
    "aliyun": "LTAI" + "5tABCDEFGHIJKLMN",
    "sendgrid": "SG." + "aB3dE5fG7hJ9kL1mN3pQ5r." + "aB3dE5fG7hJ9kL1mN3pQ5r",
}


@pytest.mark.parametrize("kind", FAKES)
def test_keys_by_their_form_are_replaced_in_prose(kind: str) -> None:
    text, kinds = scrub(f"CI uses {FAKES[kind]} for the deploy.")
    assert FAKES[kind] not in text
    assert text.startswith("CI uses [secret: ")
    assert text.endswith("] for the deploy.")
    assert len(kinds) == 1


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("the admin password for staging is Tr0ub4dor&3.", "Tr0ub4dor&3"),
        ("password = \"correcthorse\"", "correcthorse"),
        ("DB_PASSWORD=Sommer2024", "Sommer2024"),
        ("数据库密码：P@ssw0rd", "P@ssw0rd"),
        ("口令改成 9f8e7d6c", "9f8e7d6c"),
        ("パスワードは hunter2 です", "hunter2"),
        ("비밀번호는 abc123", "abc123"),
        ("client_secret=abcd1234efgh5678", "abcd1234efgh5678"),
        ("Authorization: Bearer abcDEF1234567890xyz", "abcDEF1234567890xyz"),
        ("curl -u admin:s3cr3tpw https://x", "s3cr3tpw"),
        ("AWS_SECRET_ACCESS_KEY=" + "wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYEXAMPLEKEY",
         "wJalrXUtnFEMI"),
        ("-----BEGIN RSA " + "PRIVATE KEY-----\nMIIEowIB\n-----END RSA PRIVATE KEY-----", "MIIE"),
        ("mongodb+srv://u:pa/ss9@cluster0.mongodb.net", "pa/ss9"),
    ],
)  # fmt: skip
def test_values_that_stand_where_a_secret_would_are_replaced(text: str, secret: str) -> None:
    scrubbed, kinds = scrub(text)
    assert secret not in scrubbed
    assert kinds


def test_of_a_connection_string_only_the_password_goes() -> None:
    text, _ = scrub("The database is postgres://app:" + "s3cr3t" * 3 + "@db.internal/app.")
    assert text == "The database is postgres://app:[secret: password]@db.internal/app."


@pytest.mark.parametrize(
    "text",
    [
        "Temporary files go to /tmp.",
        "password: at least 12 characters",
        "The token is refreshed every hour",
        "token = os.environ['X']",
        "api_key: ${API_KEY}",
        "api_key=<your key>",
        "max_tokens: 4096",
        "token budget = 8000",
        "Passwords are hashed with argon2id",
        "The API key is stored in 1Password",
        "secret_key = settings.SECRET_KEY",
        "CI uses GITHUB_TOKEN",
        "commit 4f5e6d7c8b9a0f1e2d3c4b5a69788796a5b4c3d2 fixed it",
        "密码至少12位",
        "密钥存放在 Vault 里",
        "비밀번호는 12자 이상",
        "https://example.com:8080/path@home",
        "git@github.com:org/repo",
        "primary key is user_id1",
        "tests pass: 85 of 85",
        "Session tokens: JWT with 15m expiry",
        "the value is [secret: password] now",
    ],
)
def test_words_about_secrets_are_none(text: str) -> None:
    assert scrub(text) == (text, ())


def test_scrubbing_twice_changes_nothing() -> None:
    once, _ = scrub(f"token={FAKES['github']} password: Tr0ub4dor&3")
    assert scrub(once) == (once, ())


def test_the_rest_is_what_says_something_beside_the_secret() -> None:
    scrubbed, _ = scrub(f"key: {FAKES['aws']}")
    assert rest(scrubbed) == "key"
    scrubbed, _ = scrub(f"Deploys run from Jenkins with {FAKES['aws']}")
    assert "Jenkins" in rest(scrubbed)


def test_an_additional_scanner_is_asked_after_the_rules() -> None:
    def scanner(text: str) -> list[tuple[int, int, str]]:
        at = text.find("swordfish")
        return [(at, at + 9, "pass phrase")] if at >= 0 else []

    assert scrub("say swordfish at the door", scanner) == (
        "say [secret: pass phrase] at the door",
        ("pass phrase",),
    )


@pytest.mark.parametrize(
    "name",
    [
        "password", "PASSWD", "Passphrase", "passcode", "pwd", "db_pass", "pin", "PIN", "p\u0131n",
        "pa\u017fsword", "pa\u017f\u017fword", "密码", "パスワード", "비밀번호", "пароль", "ПАРОЛЬ",
        "contraseña", "mot de passe", "Passwort", "Kennwort", "senha", "api_key", "API KEY",
        "access-key", "accessToken", "auth.token", "client_secret", "secrets", "SECRET_ACCESS_KEY",
        "private key", "refresh_token", "to\u212aen", "\u017fecret", "signing-key", "credentials",
        "encryption_key", "apikey", "密钥", "トークン", "토큰",
    ],
)  # fmt: skip
def test_a_value_under_any_name_of_a_secret_is_replaced(name: str) -> None:
    """In texts that say nothing else, so that what is looked for first must know each name."""
    assert scrub(f'{name} = "h4nter22-Xy"')[0].startswith(f'{name} = "[secret: ')


SERVICES = (
    "dop_v1_" + "a1" * 20, "shpat_" + "A1" * 10, "shpca_" + "A1" * 10, "shppa_" + "A1" * 10,
    "shpss_" + "A1" * 10, "lin_api_" + "a1" * 10, "hvs." + "a1" * 10, "hvb." + "a1" * 10,
    "gsk_" + "a1" * 10, "xai-" + "a1" * 10, "r8_" + "a1" * 10, "ATATT3" + "a1" * 10,
    "dapi" + "a1" * 16, "ntn_" + "a1" * 10, "figd_" + "a1" * 10, "glsa_" + "a1" * 10,
    "nvapi-" + "a1" * 10, "tskey-" + "a1" * 10, "PMAK-" + "a1" * 10,
)  # fmt: skip


@pytest.mark.parametrize("value", SERVICES)
def test_a_service_token_is_known_by_its_form_alone(value: str) -> None:
    assert scrub(f"then {value} came") == ("then [secret: service token] came", ("service token",))


@pytest.mark.parametrize(
    "before", ["Bearer ", "BEARER ", "Authorization: Basic ", "authorization token "]
)
def test_what_authorizes_is_replaced(before: str) -> None:
    assert scrub(before + "q7w8e9r0t1y2u3")[0] == before + "[secret: authorization]"
