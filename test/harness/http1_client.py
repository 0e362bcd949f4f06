"""An HTTP/1.1 client that we did not write (Python's http.client): patches and reads one object again and again on one
connection. Reads the job as JSON from standard input, writes what happened as JSON to standard output."""

import gzip
import http.client
import json
import ssl
import sys

job = json.load(sys.stdin)
context = ssl.create_default_context(cadata=job["ca"])
connection = http.client.HTTPSConnection("127.0.0.1", job["port"], context=context, timeout=60)
connection.connect()
first_socket = connection.sock
failures = []


def ask(method, body=None):
    headers = {"Authorization": "Bearer " + job["token"], "Accept-Encoding": job["encoding"]}
    if body is not None:
        headers["Content-Type"] = job["type"]
    connection.request(method, job["path"], body, headers)
    answer = connection.getresponse()
    content = answer.read()
    if answer.headers.get("Content-Encoding") == "gzip":
        content = gzip.decompress(content)
    return answer.status, content


answered = 0
for size, times in job["writes"]:
    contents = []
    bodies = [json.dumps({"spec": {"text": str(turn).ljust(size, "x")}}) for turn in range(times)]
    # At once after the answer: what is checked meanwhile would give the server time to finish it.
    for body in [*bodies, None]:
        try:
            contents.append(ask("PATCH" if body else "GET", body))
        except Exception as error:
            contents.append((0, repr(error).encode()))
            connection.close()
    for (status, content), body in zip(contents, [*bodies, bodies[-1]]):
        if status == 200 and json.loads(content)["spec"] == json.loads(body)["spec"]:
            answered += 1
        else:
            failures.append(f"{size}: {status} {content[:200]!r}")
print(json.dumps({"answered": answered, "failures": failures, "isSameSocket": connection.sock is first_socket}))
