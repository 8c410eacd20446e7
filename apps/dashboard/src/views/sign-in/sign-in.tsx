/** Where a person comes in: with a code, which makes this browser a device, or as a device that has a passkey or a token. */
import { useEffect } from "preact/hooks";
import { Command } from "../../parts/empty.tsx";
import { Problem } from "../../parts/problem.tsx";
import { useServices } from "../../services.ts";
import { signInAdvice } from "../../session/session.ts";
import { useCell } from "../../state/cell.ts";
import { PasskeySignIn } from "./passkey-sign-in.tsx";
import { SignInForm } from "./sign-in-form.tsx";

const WHY = {
  first: undefined,
  ended: "Your sign-in has ended: an operator ended it, or it was not used for a long time.",
  "signed-out": "You are signed out.",
} as const;

export function SignIn() {
  const { session } = useServices();
  const state = useCell(session.state);
  const linkProblem = state.phase === "out" ? state.problem : undefined;
  const why = state.phase === "out" ? WHY[state.why] : undefined;
  useEffect(() => {
    document.title = "Sign in · svc";
  }, []);
  return (
    <main class="sign-in" id="main" tabIndex={-1}>
      <h1>svc</h1>
      {why === undefined ? null : <p role="status">{why}</p>}
      {linkProblem === undefined ? null : (
        <div>
          <Problem error={linkProblem} what="The link did not sign this browser in." />
          <p class="hint">{signInAdvice(linkProblem)}</p>
        </div>
      )}
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
        Create a code on the machine of the service: <Command>svc pair</Command>, or under Devices on a signed-in page.
      </p>
      <details>
        <summary>Use a token instead</summary>
        <SignInForm
          label="Token"
          hint="The token of an operator or read device. It is not stored."
          action="Sign in"
          credentialOf={(text) => ({ token: text.trim() })}
          field={{ type: "password", autoComplete: "off", maxLength: 200 }}
        />
      </details>
    </main>
  );
}

/** The page is here and the service is not: it starts again, or the network is gone. */
export function Unreachable() {
  return (
    <main class="sign-in" id="main" tabIndex={-1}>
      <h1>svc</h1>
      <p role="status">The service does not answer. Trying again …</p>
    </main>
  );
}
