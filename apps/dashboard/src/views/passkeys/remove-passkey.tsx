import { useId, useState } from "preact/hooks";
import { Dialog } from "../../parts/dialog.tsx";
import { Command } from "../../parts/empty.tsx";
import { Name } from "../../parts/name.tsx";
import { type Passkey, removePasskey } from "../../passkeys/passkeys.ts";
import { useServices } from "../../services.ts";
import { useAction } from "../../state/use-action.ts";
import { rich, t } from "../../texts/texts.ts";

interface Props {
  readonly passkey: Passkey;
  /** None that works would be left. */
  readonly isLast: boolean;
  readonly onClose: () => void;
}

export function RemovePasskey({ passkey: { id, name }, isLast, onClose }: Props) {
  const { api, live } = useServices();
  const [token, setToken] = useState("");
  const remove = useAction(() => removePasskey(api, id, token.trim() === "" ? undefined : token));
  // Another one may have gone meanwhile: then the service asks for the token, too.
  const needsToken = isLast || remove.error?.code === "PASSKEY_LAST";
  const confirm = async (): Promise<void> => {
    const isGone = await remove.run();
    setToken("");
    if (!isGone) return;
    live.markStale(["passkeys"]);
    onClose();
  };
  return (
    <Dialog
      title={t("passkeys.remove-this-passkey")}
      action={t("common.remove")}
      busy={remove.isRunning}
      error={remove.error}
      onConfirm={() => void confirm()}
      onClose={onClose}
    >
      <p>{rich("passkeys.signs-in-no-more-your", { name: <Name>{name}</Name> })}</p>
      {needsToken && <TokenField id={id} token={token} onInput={setToken} onEnter={() => void confirm()} />}
    </Dialog>
  );
}

/** As it is typed: enough of the id, which may begin as an option does. */
const removalOf = (id: string): string => `svc passkeys remove ${id.startsWith("-") ? "-- " : ""}${id.slice(0, 12)}`;

interface FieldProps {
  readonly id: string;
  readonly token: string;
  readonly onInput: (token: string) => void;
  readonly onEnter: () => void;
}

/** So that a person who finds the page open can't lock its owner out. */
function TokenField({ id, token, onInput, onEnter }: FieldProps) {
  const field = useId();
  return (
    <>
      <label for={field}>{t("passkeys.token-of-this-device")}</label>
      <input
        id={field}
        type="password"
        autoComplete="off"
        maxLength={200}
        aria-describedby={`${field}-hint`}
        value={token}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
        onKeyDown={(event) => event.key === "Enter" && !event.isComposing && onEnter()}
      />
      <p class="hint" id={`${field}-hint`}>
        {rich("passkeys.it-is-the-last-one", { command: <Command>{removalOf(id)}</Command> })}
      </p>
    </>
  );
}
