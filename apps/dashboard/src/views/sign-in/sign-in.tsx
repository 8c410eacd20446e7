/** Where a person comes in: with a code, which makes this browser a device, or as a device that has a passkey or a token. */
import { useEffect } from "preact/hooks";
import { Command } from "../../parts/empty.tsx";
import { useServices } from "../../services.ts";
import { useCell } from "../../state/cell.ts";
import { useTick } from "../../state/use-tick.ts";
import { PasskeySignIn } from "./passkey-sign-in.tsx";
import { SignInForm } from "./sign-in-form.tsx";

/** Signed in by one tab, all of them are in soon. */
const LOOK_MS = 1_500;

const WHY = {
  first: undefined,
  ended: "Your sign-in has ended: twelve hours passed without a request, or the device was revoked.",
  "signed-out": "You are signed out.",
} as const;

export function SignIn() {
  const { session } = useServices();
  const state = useCell(session.state);
  const why = state.phase === "out" ? WHY[state.why] : undefined;
  useTick(LOOK_MS, () => void session.lookAgain());
  useEffect(() => {
    document.title = "Sign in · svc";
  }, []);
  return (
    <main class="sign-in" id="main" tabIndex={-1}>
      <h1>svc</h1>
      {why === undefined ? null : <p role="status">{why}</p>}
      <PasskeySignIn />
      <SignInForm
        label="Pairing code"
        hint="Six digits, good once, for ten minutes."
        action="Pair this browser"
        autoFocus
        credentialOf={(text) => ({ code: text.replaceAll(/\s/g, "") })}
        field={{ inputMode: "numeric", autoComplete: "one-time-code", maxLength: 16 }}
      />
      <p class="hint">
        Make a code where the service runs: <Command>svc pair</Command>
      </p>
      <details>
        <summary>Use a token instead</summary>
        <SignInForm
          label="Token"
          hint="Of a device that may operate or read. It is not kept."
          action="Sign in"
          credentialOf={(text) => ({ token: text.trim() })}
          field={{ type: "password", autoComplete: "off", maxLength: 200 }}
        />
      </details>
    </main>
  );
}
