/** The sign-in: by a pairing code, which makes this browser a device, or by a passkey or token of a device. */
import type { InputHTMLAttributes } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { prepareAuthenticator, signInByPasskey } from "../client/passkeys.ts";
import { type Session, signInAdvice } from "../client/session.ts";
import { LanguageSwitch } from "../components/browser-settings.tsx";
import { Button } from "../components/button.tsx";
import { Command } from "../components/layout.tsx";
import { obstacleOn, usePasskeySignIn } from "../components/passkey-obstacle.tsx";
import { ObstacleNote } from "../components/passkey-obstacle.tsx";
import { Problem } from "../components/shown.tsx";
import { useServices } from "../services.ts";
import { useCell } from "../cell.ts";
import { useAction } from "../state/use-action.ts";
import { PRODUCT, rich, t } from "../texts/texts.ts";

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
      <LanguageSwitch />
    </main>
  );
}

/** The daemon does not answer: it restarts, or the network is down. */
export function Unreachable() {
  return (
    <main class="sign-in" id="main" tabIndex={-1}>
      <h1>{PRODUCT}</h1>
      <p role="status">{t("sign-in.the-service-does-not-answer")}</p>
    </main>
  );
}

/** Draws nothing if the daemon has no passkeys. */
function PasskeySignIn() {
  if (usePasskeySignIn() !== true) return null;
  const obstacle = obstacleOn(window);
  return obstacle === undefined ? <PasskeyButton /> : <ObstacleNote obstacle={obstacle} />;
}

function PasskeyButton() {
  const { session } = useServices();
  const { run, isRunning, error } = useAction(async () => {
    const signedIn = await signInByPasskey();
    if (signedIn !== undefined) session.enter(signedIn);
  });
  useEffect(prepareAuthenticator, []);
  return (
    <div class="passkey">
      <Button kind="main" busy={isRunning} onPress={() => void run()}>
        {t("sign-in.sign-in-with-a-passkey")}
      </Button>
      <Problem error={error} />
      {error === undefined ? null : <p class="hint">{signInAdvice(error)}</p>}
    </div>
  );
}

interface SignInFormProps {
  readonly label: string;
  readonly hint: string;
  readonly action: string;
  readonly autoFocus?: boolean;
  readonly credentialOf: (text: string) => Parameters<Session["signIn"]>[0];
  readonly field: InputHTMLAttributes<HTMLInputElement>;
}

function SignInForm({ label, hint, action, autoFocus = false, credentialOf, field }: SignInFormProps) {
  const { session } = useServices();
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState("");
  const { run, isRunning, error } = useAction(() => session.signIn(credentialOf(text)));
  useEffect(() => {
    if (autoFocus) input.current?.focus();
  }, []);
  const submit = (event: Event): void => {
    event.preventDefault();
    if (text.trim() === "") input.current?.focus();
    // Clear the field: a wrong code is typed again, and a valid token must not stay on the screen.
    else void run().finally(() => setText(""));
  };
  return (
    <form onSubmit={submit} noValidate>
      <label for={id}>{label}</label>
      <input
        ref={input}
        id={id}
        spellcheck={false}
        aria-describedby={`${id}-hint`}
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        {...field}
      />
      <p class="hint" id={`${id}-hint`}>
        {hint}
      </p>
      <Problem error={error} />
      {error === undefined ? null : <p class="hint">{signInAdvice(error)}</p>}
      <button type="submit" class="button main" disabled={isRunning} aria-busy={isRunning}>
        {action}
      </button>
    </form>
  );
}
