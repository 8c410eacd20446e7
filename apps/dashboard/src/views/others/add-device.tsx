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

export function AddDevice() {
  const [isOpen, setOpen] = useState(false);
  if (!useMayOperate()) return null;
  return (
    <>
      <Button kind="main" onPress={() => setOpen(true)}>
        Add a device
      </Button>
      {isOpen && <AddDeviceDialog onClose={() => setOpen(false)} />}
    </>
  );
}

const SCOPES = [
  ["operator", "Operator: chat, approve, change settings"],
  ["read", "Read: look at everything a reader may see"],
  ["webhook", "Program: post messages to /webhook"],
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
      title="Add a device"
      action={made === undefined ? "Make a code" : "Make another code"}
      dismiss={made === undefined ? "Not now" : "Done"}
      kind="main"
      busy={make.isRunning}
      error={make.error}
      onConfirm={() => void make.run()}
      onClose={onClose}
    >
      {made === undefined ? (
        <>
          <label for={ids.name}>Name</label>
          <input
            id={ids.name}
            value={name}
            maxLength={64}
            placeholder="Phone"
            onInput={({ currentTarget }) => setName(currentTarget.value)}
            onKeyDown={(event) => event.key === "Enter" && !event.isComposing && void make.run()}
          />
          <label for={ids.scope}>It may</label>
          <select id={ids.scope} value={scope} onChange={({ currentTarget }) => setScope(currentTarget.value)}>
            {SCOPES.map(([value, text]) => (
              <option key={value} value={value}>
                {text}
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
        Code <output class="pairing-code">{code}</output> works once, until {clockTime(until)}.
      </p>
      {isForPage && best !== undefined && (
        <>
          <LinkCode text={best} />
          <p>
            <CopyButton text={best}>Copy the link</CopyButton>
          </p>
        </>
      )}
      {isForPage && best === undefined && (
        <p class="hint">
          Other machines can't reach this service yet. Set <code>gateway.public_url</code>, or <code>gateway.host</code>{" "}
          and <code>gateway.allow_public_bind</code>; then there is a link and a QR code here.
        </p>
      )}
    </div>
  );
}

const isLoopback = (host: string): boolean => host === "localhost" || host === "[::1]" || host.startsWith("127.");

/** Of a link. */
function LinkCode({ text }: { readonly text: string }) {
  return <QrCode modules={encode(text, { border: 0, ecc: "M" }).data} label="QR code of the link" />;
}
