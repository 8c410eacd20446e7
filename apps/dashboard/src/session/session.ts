/** Who is signed in. The csrf value is here and in the service worker, in memory; the cookie no script can read. */
import { ApiError, errorOf } from "../api/api-error.ts";
import { type Credentials, send } from "../api/client.ts";
import type { Device } from "../api/shapes.ts";
import { Cell } from "../state/cell.ts";
import type { Keeper, Kept } from "./keeper.ts";

export type SignIn =
  | { readonly phase: "starting" }
  | { readonly phase: "out"; readonly why: "first" | "ended" | "signed-out" }
  | { readonly phase: "in"; readonly device: Device };

/** A service worker that nobody talks to is ended after half a minute. */
const PING_MS = 15_000;

export class Session implements Credentials {
  readonly state = new Cell<SignIn>({ phase: "starting" });
  readonly #keeper: Keeper;
  #kept: Kept | undefined;
  #ping: ReturnType<typeof setInterval> | undefined;

  constructor(keeper: Keeper) {
    this.#keeper = keeper;
  }

  csrf(): string | undefined {
    return this.#kept?.csrf;
  }

  async start(): Promise<void> {
    const kept = await this.#keeper.ask();
    // Whether it is still good is told by the first request: asking before would make every reload wait.
    if (kept) this.#enter(kept);
    else {
      this.state.set({ phase: "out", why: "first" });
      void this.#keeper.prepare();
    }
  }

  /** Somebody may have signed in by another tab. */
  async lookAgain(): Promise<void> {
    const kept = await this.#keeper.ask();
    if (kept && this.state.value.phase === "out") this.#enter(kept);
  }

  /** Throws ApiError. */
  async signIn(credential: { readonly code: string } | { readonly token: string }): Promise<void> {
    const headers: Record<string, string> =
      "code" in credential ? { "X-Pairing-Code": credential.code } : { Authorization: `Bearer ${credential.token}` };
    const response = await send("/api/session", { method: "POST", headers }, {});
    if (!response.ok) throw await errorOf(response);
    this.enter((await response.json()) as Kept);
  }

  /** Signed in, by whatever way the service takes. */
  enter(kept: Kept): void {
    this.#enter(kept);
    void this.#keeper.keep(kept);
  }

  async signOut(): Promise<void> {
    const csrf = this.csrf();
    if (csrf === undefined) return;
    const response = await send("/api/session", { method: "DELETE" }, { "X-Svc-Csrf": csrf });
    if (!response.ok && response.status !== 401) throw await errorOf(response);
    this.#leave("signed-out");
  }

  async refused(csrf: string): Promise<boolean> {
    // Another request of this page was quicker.
    if (this.csrf() !== csrf) return this.csrf() !== undefined;
    const kept = await this.#keeper.ask();
    if (this.csrf() !== csrf) return this.csrf() !== undefined;
    if (kept !== undefined && kept.csrf !== csrf) {
      this.#enter(kept);
      return true;
    }
    this.#leave("ended");
    return false;
  }

  #enter(kept: Kept): void {
    this.#kept = kept;
    this.state.set({ phase: "in", device: kept.device });
    clearInterval(this.#ping);
    this.#ping = setInterval(() => void this.#keeper.ping(kept), PING_MS);
  }

  #leave(why: "ended" | "signed-out"): void {
    this.#kept = undefined;
    clearInterval(this.#ping);
    void this.#keeper.forget();
    this.state.set({ phase: "out", why });
  }
}

/** What a person can do about a sign-in that failed. */
export function signInAdvice({ code, retryAfterSecs }: ApiError): string {
  const wait = retryAfterSecs === undefined ? "Wait a while" : `Wait ${retryAfterSecs} s`;
  switch (code) {
    case "BAD_PAIRING_CODE":
      return "A code is good once, for ten minutes. Make a new one: svc pair";
    case "UNAUTHORIZED":
      return "Nobody has this token; it may have been revoked. A new one comes from pairing: svc pair";
    case "FORBIDDEN_SCOPE":
      return "The page needs a device that may operate or read: svc pair --scope operator";
    case "LOCKED_OUT":
    case "RATE_LIMITED":
      return `${wait}, then try again. Nobody else is locked out.`;
    case "PASSKEY_UNKNOWN":
      return "The service does not know this passkey: it was removed, or its device was revoked.";
    case "PASSKEY_REFUSED":
    case "PASSKEY_EXPIRED":
    case "BROWSER_REFUSED":
      return "A pairing code always works: svc pair";
    case "UNREACHABLE":
      return "Is it running? svc status tells, svc daemon starts it.";
    default:
      return "The log has more: svc logs";
  }
}
