import { useEffect, useId, useState } from "preact/hooks";
import { Dialog } from "../../parts/dialog.tsx";
import { addPasskey, prepareAuthenticator } from "../../passkeys/passkeys.ts";
import { useServices } from "../../services.ts";
import { useDevice } from "../../session/use-device.ts";
import { useAction } from "../../state/use-action.ts";
import { t } from "../../texts/texts.ts";

/** Asks for the passkey's name; the browser asks for the rest. */
export function AddPasskey({ onClose }: { readonly onClose: () => void }) {
  const { api, live, announcer } = useServices();
  const device = useDevice();
  const [name, setName] = useState("");
  const field = useId();
  const add = useAction(async () => {
    if (device === undefined || !(await addPasskey(api, device, name))) return;
    live.markStale(["passkeys"]);
    announcer.say(t("passkeys.the-passkey-was-added"));
    onClose();
  });
  useEffect(prepareAuthenticator, []);
  return (
    <Dialog
      title={t("passkeys.add-a-passkey")}
      action={t("common.go-on")}
      kind="main"
      busy={add.isRunning}
      error={add.error}
      onConfirm={() => void add.run()}
      onClose={onClose}
    >
      <label for={field}>{t("common.name")}</label>
      <input
        id={field}
        value={name}
        maxLength={64}
        autoComplete="off"
        aria-describedby={`${field}-hint`}
        onInput={({ currentTarget }) => setName(currentTarget.value)}
        onKeyDown={(event) => event.key === "Enter" && !event.isComposing && void add.run()}
      />
      <p class="hint" id={`${field}-hint`}>
        {t("passkeys.to-tell-it-from-others")}
      </p>
    </Dialog>
  );
}
