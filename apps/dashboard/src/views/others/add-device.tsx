/** Lets one more device in: a link and a QR code for a browser, a code for a program. */
import { useId, useState } from "preact/hooks";
import { encode } from "uqr";
import type { NewPairingCode } from "../../api/shapes.ts";
import { Button } from "../../parts/button.tsx";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { QrCode } from "../../parts/qr-code.tsx";
import { clockTime } from "../../text/time.ts";
import { useServices } from "../../services.ts";
import { useMayOperate } from "../../session/use-device.ts";
import { useAction } from "../../state/use-action.ts";
import { rich, t } from "../../texts/texts.ts";

export function AddDevice() {
  const [isOpen, setOpen] = useState(false);
  if (!useMayOperate()) return null;
  return (
    <>
      <Button kind="main" onPress={() => setOpen(true)}>
        {t("devices.add-a-device")}
      </Button>
      {isOpen && <AddDeviceDialog onClose={() => setOpen(false)} />}
    </>
  );
}

const SCOPES = [
  ["operator", "devices.operator-chat-approve-change-settings"],
  ["read", "devices.read-look-at-everything-a"],
  ["webhook", "devices.program-post-messages-to-webhook"],
] as const;

function AddDeviceDialog({ onClose }: { readonly onClose: () => void }) {
  const { api } = useServices();
  const [name, setName] = useState("");
  const [scope, setScope] = useState<string>("operator");
  const [made, setMade] = useState<NewPairingCode>();
  const make = useAction(async () => {
    const body = { scope, name: name.trim() === "" ? null : name.trim() };
    setMade(await api.call<NewPairingCode>("/api/pairing-codes", { method: "POST", body }));
  });
  const ids = { name: useId(), scope: useId() };
  return (
    <Dialog
      title={t("devices.add-a-device")}
      action={made === undefined ? t("devices.make-a-code") : t("devices.make-another-code")}
      dismiss={made === undefined ? t("common.not-now") : t("common.done")}
      kind="main"
      busy={make.isRunning}
      error={make.error}
      onConfirm={() => void make.run()}
      onClose={onClose}
    >
      {made === undefined ? (
        <>
          <label for={ids.name}>{t("common.name")}</label>
          <input
            id={ids.name}
            value={name}
            maxLength={64}
            placeholder={t("devices.phone")}
            onInput={({ currentTarget }) => setName(currentTarget.value)}
            onKeyDown={(event) => event.key === "Enter" && !event.isComposing && void make.run()}
          />
          <label for={ids.scope}>{t("devices.it-may")}</label>
          <select id={ids.scope} value={scope} onChange={({ currentTarget }) => setScope(currentTarget.value)}>
            {SCOPES.map(([value, text]) => (
              <option key={value} value={value}>
                {t(text)}
              </option>
            ))}
          </select>
        </>
      ) : (
        <Code made={made} isForPage={scope !== "webhook"} />
      )}
    </Dialog>
  );
}

function Code({ made: { code, expires_at: until, link }, isForPage }: { made: NewPairingCode; isForPage: boolean }) {
  const { origin, hostname } = window.location;
  // A page that another machine has opened tells best by which address it is reached.
  const own = isLoopback(hostname) ? undefined : `${origin}/#pair=${code}`;
  const best = own ?? link ?? undefined;
  return (
    <div class="pairing">
      <p>
        {rich("devices.code-works-once-until", {
          code: <output class="pairing-code">{code}</output>,
          time: clockTime(until),
        })}
      </p>
      {isForPage && best !== undefined && (
        <>
          <LinkCode text={best} />
          <p>
            <CopyButton text={best}>{t("devices.copy-the-link")}</CopyButton>
          </p>
        </>
      )}
      {isForPage && best === undefined && (
        <p class="hint">
          {rich("devices.other-machines-cant-reach-this", {
            url: <code>gateway.public_url</code>,
            host: <code>gateway.host</code>,
            bind: <code>gateway.allow_public_bind</code>,
          })}
        </p>
      )}
    </div>
  );
}

const isLoopback = (host: string): boolean => host === "localhost" || host === "[::1]" || host.startsWith("127.");

/** QR code of a link. */
function LinkCode({ text }: { readonly text: string }) {
  return <QrCode modules={encode(text, { border: 0, ecc: "M" }).data} label={t("devices.qr-code-of-the-link")} />;
}
