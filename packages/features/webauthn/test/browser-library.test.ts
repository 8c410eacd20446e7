// Whoever writes a page of their own uses @simplewebauthn/browser as its documentation says, with what our endpoints answer.
import { startAuthentication, startRegistration } from "@simplewebauthn/browser";
import { SoftAuthenticator } from "@svc/testkit/webauthn/authenticator";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ANN, openFixture, OPEN, ORIGIN, STRANGER } from "./fixture.ts";

type CreationOptions = Parameters<typeof startRegistration>[0]["optionsJSON"];
type RequestOptions = Parameters<typeof startAuthentication>[0]["optionsJSON"];

let authenticator: SoftAuthenticator;
beforeEach(() => {
  authenticator = new SoftAuthenticator();
  vi.stubGlobal("PublicKeyCredential", () => undefined);
  vi.stubGlobal("navigator", { credentials: credentialsOf(authenticator) });
});
afterEach(() => vi.unstubAllGlobals());

describe("with the library of the browser", () => {
  test("a passkey is added and signs in", async () => {
    const { call, begin, ask, list } = await openFixture({ section: OPEN });
    const optionsJSON = (await begin(ANN, "ann", "Ann")) as CreationOptions;
    const made = await startRegistration({ optionsJSON });
    const body = { ...made, name: "the phone" };
    const added = await call({ path: "/api/webauthn/register/finish", caller: ANN, body });
    expect(added).toMatchObject({
      status: 201,
      body: { id: made.id, name: "the phone", transports: ["internal", "hybrid"] },
    });

    for (const asked of [await ask(STRANGER), await ask(ANN, "ann")]) {
      const caller = "allowCredentials" in asked ? ANN : STRANGER;
      const proof = await startAuthentication({ optionsJSON: asked as RequestOptions });
      const { signIn } = await call({ path: "/api/webauthn/auth/finish", caller, body: proof });
      expect(signIn).toBe("client-ann");
    }
    expect(await list(ANN)).toHaveLength(1);
  });

  test("a second one on the same authenticator is refused there", async () => {
    const { begin, finish } = await openFixture();
    const optionsJSON = (await begin(ANN, "ann")) as CreationOptions;
    await finish(ANN, (await startRegistration({ optionsJSON })) as Parameters<typeof finish>[1]);
    const again = (await begin(ANN, "ann")) as CreationOptions;
    await expect(startRegistration({ optionsJSON: again })).rejects.toMatchObject({
      code: "ERROR_AUTHENTICATOR_PREVIOUSLY_REGISTERED",
    });
  });
});

type Binary = { readonly id: ArrayBuffer };

/** `navigator.credentials` over our authenticator: the browser's bytes in place of its JSON. */
const credentialsOf = (soft: SoftAuthenticator) => ({
  create: async ({ publicKey: asked }: { publicKey: never }) => {
    const { challenge, user, excludeCredentials, ...rest } = asked as {
      challenge: ArrayBuffer;
      user: Binary & { name: string };
      excludeCredentials: readonly Binary[];
    };
    const made = soft.create(
      {
        ...(rest as never as Parameters<SoftAuthenticator["create"]>[0]),
        challenge: textOf(challenge),
        user: { ...user, id: textOf(user.id) },
        excludeCredentials: excludeCredentials.map(({ id }) => ({ id: textOf(id) })),
      },
      ORIGIN,
    );
    return credential(made, {
      attestationObject: bytesOf(made.response.attestationObject),
      getTransports: () => made.response.transports,
      getPublicKeyAlgorithm: () => made.response.publicKeyAlgorithm,
      getPublicKey: () => null,
      getAuthenticatorData: () => bytesOf(made.response.authenticatorData!),
    });
  },
  get: async ({ publicKey: asked }: { publicKey: never }) => {
    const { challenge, allowCredentials, ...rest } = asked as {
      challenge: ArrayBuffer;
      allowCredentials?: readonly Binary[];
    };
    const proof = soft.get(
      {
        ...(rest as never as Parameters<SoftAuthenticator["get"]>[0]),
        challenge: textOf(challenge),
        ...(allowCredentials && { allowCredentials: allowCredentials.map(({ id }) => ({ id: textOf(id) })) }),
      },
      ORIGIN,
    );
    return credential(proof, {
      authenticatorData: bytesOf(proof.response.authenticatorData),
      signature: bytesOf(proof.response.signature),
      userHandle: bytesOf(proof.response.userHandle!),
    });
  },
});

const credential = (
  made: { readonly id: string; readonly type: string; readonly response: { readonly clientDataJSON: string } },
  response: object,
) => ({
  id: made.id,
  rawId: bytesOf(made.id),
  type: made.type,
  authenticatorAttachment: "platform",
  response: { clientDataJSON: bytesOf(made.response.clientDataJSON), ...response },
  getClientExtensionResults: () => ({}),
});

const textOf = (bytes: ArrayBuffer): string => Buffer.from(bytes).toString("base64url");

const bytesOf = (text: string): ArrayBuffer => Uint8Array.from(Buffer.from(text, "base64url")).buffer;
