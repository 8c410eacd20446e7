import { useState } from "preact/hooks";
import { path } from "../../api/client.ts";
import { Button } from "../../parts/button.tsx";
import { RenameDialog } from "../../parts/rename-dialog.tsx";
import type { Passkey } from "../../passkeys/passkeys.ts";
import { RemovePasskey } from "./remove-passkey.tsx";
import { t } from "../../texts/texts.ts";

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
      <Button label={t("passkeys.rename", { name })} onPress={() => setOpen("rename")}>
        {t("common.rename")}
      </Button>
      <Button kind="danger" label={t("passkeys.remove", { name })} onPress={() => setOpen("remove")}>
        {t("common.remove")}
      </Button>
      {open === "rename" && (
        <RenameDialog
          title={t("passkeys.rename-this-passkey")}
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
