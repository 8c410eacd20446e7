// The demo's conversation with a running daemon. Every answer is checked: a demo that only prints would show a broken
// service just as happily.
import { randomUUID } from "node:crypto";

/** @typedef {{ status: number, body: any, problem?: string }} Answer */
/** @typedef {{ title: string, request: string, answer: Answer, problem?: string }} Stop one request of the tour */

/**
 * Pairs, posts a message, replays its idempotency key. Stops at the first answer that is not as it should be.
 * @param {import("./daemon.mjs").Daemon} daemon
 * @param {(stop: Stop) => void} show
 * @returns {Promise<boolean>} true when every answer was right
 */
export async function tour(daemon, show) {
  const message = "Hello from the demo";
  const key = randomUUID();
  let token = "";
  const post = () =>
    call(daemon, "POST", "/webhook", { authorization: `Bearer ${token}`, "x-idempotency-key": key }, { message });
  /** @type {readonly [string, string, () => Promise<Answer>, (answer: Answer) => string | undefined][]} */
  const stops = [
    [
      "Is it there?",
      "GET /health",
      () => call(daemon, "GET", "/health"),
      ({ body }) => expectThat(body?.status === "ok", "status is not ok"),
    ],
    [
      "A stranger is turned away",
      "POST /webhook without a token",
      () => call(daemon, "POST", "/webhook", {}, { message }, 401),
      ({ body }) => expectThat(typeof body?.code === "string", "the refusal has no code"),
    ],
    [
      "Pair with the printed code",
      "POST /pair",
      () => call(daemon, "POST", "/pair", { "x-pairing-code": daemon.pairingCode }),
      ({ body }) => {
        token = String(body?.token ?? "");
        return expectThat(body?.paired === true && /^svc_[0-9a-f]{64}$/u.test(token), "no token came back");
      },
    ],
    [
      "Send a message",
      `POST /webhook  X-Idempotency-Key: ${key}`,
      post,
      ({ body }) => expectThat(String(body?.response ?? "").includes(message), "the reply does not hold the message"),
    ],
    [
      "Send it again with the same key",
      `POST /webhook  X-Idempotency-Key: ${key}`,
      post,
      ({ body }) =>
        expectThat(body?.status === "duplicate" && body?.idempotent === true, "the replay was not recognised"),
    ],
  ];
  for (const [title, request, ask, check] of stops) {
    const answer = await ask();
    const problem = answer.problem ?? check(answer);
    show({ title, request, answer: hideToken(answer, token), ...(problem ? { problem } : {}) });
    if (problem) return false;
  }
  return true;
}

/**
 * @param {import("./daemon.mjs").Daemon} daemon
 * @param {string} method
 * @param {string} path
 * @param {Record<string, string>} [headers]
 * @param {unknown} [body]
 * @param {number} [expected]
 * @returns {Promise<Answer>}
 */
async function call(daemon, method, path, headers = {}, body = undefined, expected = 200) {
  const response = await fetch(daemon.url + path, {
    method,
    headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
    signal: AbortSignal.timeout(30_000),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const parsed = parseJson(text);
  const answer = { status: response.status, body: parsed ?? text };
  if (response.status !== expected) return { ...answer, problem: `expected status ${expected}` };
  return parsed === undefined ? { ...answer, problem: "the answer is not JSON" } : answer;
}

/** @param {string} text */
function parseJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * @param {boolean} ok
 * @param {string} otherwise
 */
function expectThat(ok, otherwise) {
  return ok ? undefined : otherwise;
}

/**
 * The token is only good for a home that is gone in a second, but logs of CI are kept for ever.
 * @param {Answer} answer
 * @param {string} token
 * @returns {Answer}
 */
function hideToken(answer, token) {
  if (!token || answer.body?.token !== token) return answer;
  return { ...answer, body: { ...answer.body, token: `${token.slice(0, 8)}…` } };
}
