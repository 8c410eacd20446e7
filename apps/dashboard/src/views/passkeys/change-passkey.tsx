import { useState } from "preact/hooks";
import { path } from "../../api/client.ts";
import { Button } from "../../parts/button.tsx";
import { RenameDialog } from "../../parts/rename-dialog.tsx";
import type { Passkey } from "../../passkeys/passkeys.ts";
import { RemovePasskey } from "./remove-passkey.tsx";

interface Props {
  readonly passkey: Passkey;
  readonly isLast: boolean;
}

export function ChangePasskey({ passkey, isLast }: Props) {
  const { id, name } = passkey;
  const [open, setOpen] = useState<"rename" | "remove">();
  const close = (): void => setOpen(undefined);
  return (
    <span class="buttons">
      <Button label={`Rename ${name}`} onPress={() => setOpen("rename")}>
        Rename
      </Button>
      <Button kind="danger" label={`Remove ${name}`} onPress={() => setOpen("remove")}>
        Remove
      </Button>
      {open === "rename" && (
        <RenameDialog
          title="Rename this passkey"
          path={path`/api/webauthn/credentials/${id}/name`}
          name={name}
          stale={["passkeys"]}
          onClose={close}
        />
      )}
      {open === "remove" && <RemovePasskey passkey={passkey} isLast={isLast} onClose={close} />}
    </span>
  );
}
