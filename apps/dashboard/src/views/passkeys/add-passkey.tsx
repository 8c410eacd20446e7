import { useEffect, useId, useState } from "preact/hooks";
import { Dialog } from "../../parts/dialog.tsx";
import { addPasskey } from "../../passkeys/passkeys.ts";
import { prepareAuthenticator } from "../../passkeys/authenticator.ts";
import { useServices } from "../../services.ts";
import { useDevice } from "../../session/use-device.ts";
import { useAction } from "../../state/use-action.ts";

/** Asks what it is to be called; the browser asks for the rest. */
export function AddPasskey({ onClose }: { readonly onClose: () => void }) {
  const { api, live, announcer } = useServices();
  const device = useDevice();
  const [name, setName] = useState("");
  const field = useId();
  const add = useAction(async () => {
    if (device === undefined || !(await addPasskey(api, device, name))) return;
    live.markStale(["passkeys"]);
    announcer.say("The passkey was added.");
    onClose();
  });
  useEffect(prepareAuthenticator, []);
  return (
    <Dialog
      title="Add a passkey"
      action="Go on"
      kind="main"
      busy={add.isRunning}
      error={add.error}
      onConfirm={() => void add.run()}
      onClose={onClose}
    >
      <label for={field}>Name</label>
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
        To tell it from others, such as where it is kept. Then the browser asks for a finger, a face or a PIN.
      </p>
    </Dialog>
  );
}
