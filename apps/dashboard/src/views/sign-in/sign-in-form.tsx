import type { InputHTMLAttributes } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { Problem } from "../../parts/problem.tsx";
import { useServices } from "../../services.ts";
import { signInAdvice, type Session } from "../../session/session.ts";
import { useAction } from "../../state/use-action.ts";

interface Props {
  readonly label: string;
  readonly hint: string;
  readonly action: string;
  readonly autoFocus?: boolean;
  readonly credentialOf: (text: string) => Parameters<Session["signIn"]>[0];
  readonly field: InputHTMLAttributes<HTMLInputElement>;
}

export function SignInForm({ label, hint, action, autoFocus = false, credentialOf, field }: Props) {
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
    // What was wrong is typed anew; what was right must not lie about.
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
