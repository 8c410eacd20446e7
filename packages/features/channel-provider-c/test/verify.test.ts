// Who may post and who may ask: a platform that signs nothing leaves a token in the URL, and a handshake that echoes.
import { providerCDelivery } from "@svc/testkit/platforms/provider-c/delivery";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CALLBACK_TOKEN, NOW_MS, open, requestOf, VERIFY_TOKEN } from "./open-channel.ts";

const message = { id: "m-1", from: "12025550123", text: "Hello", atMs: NOW_MS };
const post = (query: string) => requestOf({ ...providerCDelivery(message, undefined), query });
const get = (query: string) => requestOf({ method: "GET", query, headers: {}, body: new Uint8Array() });

describe("a POST", () => {
  test("with the token passes", () => {
    const { ingress } = open();
    expect(ingress.signed).toBe(true);
    expect(ingress.verify(requestOf(providerCDelivery(message, CALLBACK_TOKEN)))).toEqual({ ok: true });
  });

  test.each([
    "",
    "?token=",
    "?token=%20",
    "?Token=token-of-the-callback",
    "?token=token-of-the-callbac",
    "?token=wrong&token=token-of-the-callback",
    "?token=TOKEN-OF-THE-CALLBACK",
    "?x=token-of-the-callback",
    `?token=${VERIFY_TOKEN}`,
  ])("with %j is refused", (query) => {
    const verdict = open().ingress.verify(post(query));
    expect(verdict).toMatchObject({ ok: false, code: "UNAUTHORIZED" });
    expect(JSON.stringify(verdict)).not.toContain("token-of-the-callbac");
  });

  test("of whatever token is refused", () => {
    const { ingress } = open();
    fc.assert(
      fc.property(fc.string(), (token) => {
        const { ok } = ingress.verify(post(`?${new URLSearchParams({ token }).toString()}`));
        expect(ok).toBe(token === CALLBACK_TOKEN);
      }),
    );
  });

  test("passes without a configured token, and the channel says that it proves nothing", () => {
    const { ingress } = open({ callback_token: undefined });
    expect(ingress.signed).toBe(false);
    expect(ingress.verify(post(""))).toEqual({ ok: true });
    expect(ingress.verify(post("?token=any"))).toEqual({ ok: true });
  });
});

describe("a GET", () => {
  const asked = (query: string, changes = {}) => {
    const { ingress } = open(changes);
    const request = get(query);
    const verdict = ingress.verify(request);
    return verdict.ok ? ingress.parse(request).reply : verdict.code;
  };
  const reply = (body: string) => ({ status: 200, contentType: "text/plain; charset=utf-8", body });

  test("echoes the challenge as text, markup and all, when the token is right", () => {
    const query = new URLSearchParams({ "hub.verify_token": VERIFY_TOKEN, "hub.challenge": "<b>1 & 2</b>" });
    expect(asked(`?${query.toString()}`)).toEqual(reply("<b>1 & 2</b>"));
  });

  test.each(["?hub.challenge=1", "?hub.challenge=1&hub.verify_token=", `?hub.challenge=1&token=${CALLBACK_TOKEN}`])(
    "with %j is refused",
    (query) => {
      expect(asked(query)).toBe("BAD_VERIFY_TOKEN");
    },
  );

  test("echoes for anybody without a configured token; no challenge, or an empty one, is BAD_REQUEST", () => {
    expect(asked("?hub.challenge=1", { verify_token: undefined })).toEqual(reply("1"));
    for (const query of ["", "?hub.challenge="]) {
      const refused = expect.objectContaining({ code: "BAD_REQUEST" });
      expect(() => asked(query, { verify_token: undefined })).toThrow(refused);
    }
  });
});
