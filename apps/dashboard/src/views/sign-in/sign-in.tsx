/** Where a person comes in: with a code, which makes this browser a device, or as a device that has a passkey or a token. */
import { useEffect } from "preact/hooks";
import { Command } from "../../parts/empty.tsx";
import { Problem } from "../../parts/problem.tsx";
import { useServices } from "../../services.ts";
import { signInAdvice } from "../../session/session.ts";
import { useCell } from "../../state/cell.ts";
import { PasskeySignIn } from "./passkey-sign-in.tsx";
import { SignInForm } from "./sign-in-form.tsx";
import { PRODUCT, rich, t } from "../../texts/texts.ts";

const WHY = {
  first: undefined,
  ended: "sign-in.your-sign-in-has-ended",
  "signed-out": "sign-in.you-are-signed-out",
} as const;

export function SignIn() {
  const { session } = useServices();
  const state = useCell(session.state);
  const linkProblem = state.phase === "out" ? state.problem : undefined;
  const why = state.phase === "out" ? WHY[state.why] : undefined;
  const title = t("common.sign-in");
  useEffect(() => {
    document.title = `${title} · ${PRODUCT}`;
  }, [title]);
  return (
    <main class="sign-in" id="main" tabIndex={-1}>
      <h1>{PRODUCT}</h1>
      {why === undefined ? null : <p role="status">{t(why)}</p>}
      {linkProblem === undefined ? null : (
        <div>
          <Problem error={linkProblem} what={t("sign-in.the-link-did-not-sign")} />
          <p class="hint">{signInAdvice(linkProblem)}</p>
        </div>
      )}
      <PasskeySignIn />
      <SignInForm
        label={t("sign-in.pairing-code")}
        hint={t("sign-in.six-digits-good-once-for")}
        action={t("sign-in.pair-this-browser")}
        autoFocus
        credentialOf={(text) => ({ code: text.replaceAll(/\s/g, "") })}
        field={{ inputMode: "numeric", autoComplete: "one-time-code", maxLength: 16 }}
      />
      <p class="hint">{rich("sign-in.create-a-code-on-the", { command: <Command>svc pair</Command> })}</p>
      <details>
        <summary>{t("sign-in.use-a-token-instead")}</summary>
        <SignInForm
          label={t("sign-in.token")}
          hint={t("sign-in.the-token-of-an-operator")}
          action={t("common.sign-in")}
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
      <h1>{PRODUCT}</h1>
      <p role="status">{t("sign-in.the-service-does-not-answer")}</p>
    </main>
  );
}
