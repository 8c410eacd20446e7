/** Chromium's own virtual authenticator, plugged into one tab: https://chromedevtools.github.io/devtools-protocol/tot/WebAuthn/ */
import type { CDPSession, Page } from "playwright-core";

export interface Stored {
  readonly credentialId: string;
  readonly isResidentCredential: boolean;
  readonly rpId?: string;
  readonly privateKey: string;
  readonly userHandle?: string;
  readonly signCount: number;
}

export interface Moods {
  /** The person is recognised. */
  readonly isVerified?: boolean;
  readonly kind?: "internal" | "usb";
}

export class Authenticator {
  readonly #session: CDPSession;
  readonly #id: string;

  private constructor(session: CDPSession, id: string) {
    this.#session = session;
    this.#id = id;
  }

  /** Answers at once, as a person who is there. */
  static async plugInto(page: Page, { isVerified = true, kind = "internal" }: Moods = {}): Promise<Authenticator> {
    const session = await page.context().newCDPSession(page);
    await session.send("WebAuthn.enable", { enableUI: false });
    const { authenticatorId } = await session.send("WebAuthn.addVirtualAuthenticator", {
      options: {
        protocol: "ctap2",
        transport: kind,
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: isVerified,
        automaticPresenceSimulation: true,
      },
    });
    return new Authenticator(session, authenticatorId);
  }

  async recognises(isUserVerified: boolean): Promise<void> {
    await this.#session.send("WebAuthn.setUserVerified", { authenticatorId: this.#id, isUserVerified });
  }

  /** What it signs is wrong, or says that nobody was recognised. */
  async lies(bits: { readonly isBogusSignature?: boolean; readonly isBadUV?: boolean }): Promise<void> {
    await this.#session.send("WebAuthn.setResponseOverrideBits", { authenticatorId: this.#id, ...bits });
  }

  async stored(): Promise<readonly Stored[]> {
    const { credentials } = await this.#session.send("WebAuthn.getCredentials", { authenticatorId: this.#id });
    return credentials;
  }

  async forget({ credentialId }: Stored): Promise<void> {
    await this.#session.send("WebAuthn.removeCredential", { authenticatorId: this.#id, credentialId });
  }

  /** As a copy of it that was made before, or in another authenticator. */
  async hold(credential: Stored): Promise<void> {
    const { credentialId } = credential;
    if ((await this.stored()).some((one) => one.credentialId === credentialId)) await this.forget(credential);
    await this.#session.send("WebAuthn.addCredential", { authenticatorId: this.#id, credential });
  }
}
