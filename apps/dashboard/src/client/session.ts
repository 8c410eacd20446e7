/**
 * The sign-in. The cookie outlives the browser, and no script can read it; the csrf value is in memory only, and each load of the
 * page requests it.
 */
import type { PageDevice, SignIn } from "@svc/api";
import { retryDelayMs } from "@svc/kit/async";
import { Cell } from "../cell.ts";
import { t } from "../texts/texts.ts";
import { ApiError, type Credentials, asApiError, errorOf, send } from "./api.ts";

const BACKOFF = { firstMs: 400, longestMs: 15_000 };

export type SignInState =
  /** `problem`: the daemon did not answer; the page retries. */
  | { readonly phase: "starting"; readonly problem?: ApiError }
  /** `problem`: why the opened link can't sign in. */
  | { readonly phase: "out"; readonly why: "first" | "ended" | "signed-out"; readonly problem?: ApiError }
  | { readonly phase: "in"; readonly device: PageDevice };

/** Other tabs of this browser share the cookie: each gets a message when it changes, and checks it itself. */
export type Tabs = Pick<BroadcastChannel, "postMessage" | "addEventListener">;

/** The browser drops a cookie by its age: a tab that stays open renews it. */
const RENEW_MS = 6 * 3_600_000;

export class Session implements Credentials {
  readonly state = new Cell<SignInState>({ phase: "starting" });
  readonly #tabs: Tabs | undefined;
  /** Browsers send `Origin` with a GET only from a secure page, with a POST always. */
  readonly #resumeBy: "GET" | "POST";
  #signedIn: SignIn | undefined;
  #resuming: Promise<SignIn | undefined> | undefined;
  #linkCode: string | undefined;
  #renew: ReturnType<typeof setInterval> | undefined;

  constructor(tabs: Tabs | undefined, isSecureContext: boolean) {
    this.#tabs = tabs;
    this.#resumeBy = isSecureContext ? "GET" : "POST";
    tabs?.addEventListener("message", () => void this.checkAgain());
  }

  csrf(): string | undefined {
    return this.#signedIn?.csrf;
  }

  /** Never rejects. */
  async start(): Promise<void> {
    for (let attempt = 1; this.state.value.phase === "starting"; attempt += 1) {
      try {
        const signedIn = await this.#resume();
        if (signedIn !== undefined) return this.#enter(signedIn);
        this.state.set({ phase: "out", why: "first" });
        return await this.openLink(this.#linkCode);
      } catch (error) {
        // The sign-in may still be valid: don't ask for a code because the service is restarting.
        this.state.set({ phase: "starting", problem: asApiError(error) });
        await new Promise((resolve) => setTimeout(resolve, retryDelayMs(attempt, BACKOFF)));
      }
    }
  }

  /** @param code Of a pairing link; not used where the browser is signed in already. Never rejects. */
  async openLink(code: string | undefined): Promise<void> {
    // Waits until it is known whether this browser is signed in.
    this.#linkCode = this.state.value.phase === "starting" ? code : undefined;
    if (code === undefined || this.state.value.phase !== "out") return;
    try {
      await this.signIn({ code });
    } catch (error) {
      this.state.set({ phase: "out", why: "first", problem: asApiError(error) });
    }
  }

  /** Another tab may have signed in or out. */
  async checkAgain(): Promise<void> {
    if (this.state.value.phase === "starting") return;
    const signedIn = await this.#resume().catch(() => "unknown" as const);
    if (signedIn === "unknown") return;
    if (signedIn !== undefined) this.#enter(signedIn);
    else if (this.state.value.phase === "in") this.#leave("ended");
  }

  /** Throws ApiError. */
  async signIn(credential: { readonly code: string } | { readonly token: string }): Promise<void> {
    const headers: Record<string, string> =
      "code" in credential ? { "X-Pairing-Code": credential.code } : { Authorization: `Bearer ${credential.token}` };
    const response = await send("/api/session", { method: "POST", headers }, {});
    if (!response.ok) throw await errorOf(response);
    this.enter((await response.json()) as SignIn);
  }

  /** Signed in, by any method. */
  enter(signedIn: SignIn): void {
    this.#enter(signedIn);
    this.#tabs?.postMessage("changed");
  }

  async signOut(): Promise<void> {
    const csrf = this.csrf();
    if (csrf === undefined) return;
    const response = await send("/api/session", { method: "DELETE" }, { "X-Svc-Csrf": csrf });
    if (!response.ok && response.status !== 401) throw await errorOf(response);
    this.#leave("signed-out");
    this.#tabs?.postMessage("changed");
  }

  async refused(csrf: string): Promise<boolean> {
    // Another request of this page was quicker.
    if (this.csrf() !== csrf) return this.csrf() !== undefined;
    const signedIn = await this.#resume();
    if (this.csrf() !== csrf) return this.csrf() !== undefined;
    if (signedIn !== undefined && signedIn.csrf !== csrf) {
      this.#enter(signedIn);
      return true;
    }
    this.#leave("ended");
    return false;
  }

  /** Undefined: not signed in. Rejects with ApiError if the daemon does not answer. */
  #resume(): Promise<SignIn | undefined> {
    this.#resuming ??= resumed(this.#resumeBy).finally(() => (this.#resuming = undefined));
    return this.#resuming;
  }

  #enter(signedIn: SignIn): void {
    const before = this.state.value;
    this.#signedIn = signedIn;
    clearInterval(this.#renew);
    this.#renew = setInterval(() => void this.checkAgain(), RENEW_MS);
    // The same device as before: no re-render.
    if (before.phase === "in" && before.device.id === signedIn.device.id) return;
    this.state.set({ phase: "in", device: signedIn.device });
  }

  #leave(why: "ended" | "signed-out"): void {
    this.#signedIn = undefined;
    clearInterval(this.#renew);
    this.state.set({ phase: "out", why });
  }
}

async function resumed(method: "GET" | "POST"): Promise<SignIn | undefined> {
  const response = await send("/api/session", { method }, {});
  if (response.ok) return (await response.json()) as SignIn;
  const error = await errorOf(response);
  if (error.status === 401 || error.status === 403) return undefined;
  throw error;
}

/**
 * The code of a pairing link (`#pair=123456`). It is removed from the address at once: it must not stay in the history, in a
 * bookmark or on a screen.
 */
export function takePairingCode({ location, history }: Window): string | undefined {
  const code = /^#pair=(\d{6})$/.exec(location.hash)?.[1];
  if (location.hash.startsWith("#pair=")) history.replaceState(null, "", location.pathname);
  return code;
}

/** What a person can do about a sign-in that failed. */
export function signInAdvice({ code, retryAfterSecs }: ApiError): string {
  switch (code) {
    case "BAD_PAIRING_CODE":
      return t("session.a-code-is-good-once");
    case "UNAUTHORIZED":
      return t("session.this-token-is-unknown-it");
    case "FORBIDDEN_SCOPE":
      return t("session.the-page-needs-a-device");
    case "LOCKED_OUT":
    case "RATE_LIMITED":
      return retryAfterSecs === undefined
        ? t("session.wait-a-while")
        : t("session.wait-seconds", { n: retryAfterSecs });
    case "PASSKEY_UNKNOWN":
      return t("session.the-service-does-not-know");
    case "PASSKEY_REFUSED":
    case "PASSKEY_EXPIRED":
    case "BROWSER_REFUSED":
      return t("session.a-pairing-code-always-works");
    case "UNREACHABLE":
      return t("session.is-it-running-svc-status");
    default:
      return t("session.the-log-has-more-svc");
  }
}
