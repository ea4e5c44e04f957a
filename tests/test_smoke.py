from __future__ import annotations


def test_unknown_path_is_problem_json(acme_api):
    response = acme_api.get("/api/v1/nothing")

    assert response.status_code == 404
    assert response["Content-Type"] == "application/problem+json"
    assert response.json()["code"] == "not_found"
