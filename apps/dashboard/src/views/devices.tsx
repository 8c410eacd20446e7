/** Paired devices and their sign-ins: add, rename, revoke. */
import type { DeviceList, NewPairingCode, PairedDevice } from "@svc/api";
import { useId, useState } from "preact/hooks";
import { encode } from "uqr";
import { path } from "../client/api.ts";
import { NotificationSwitch, PushSwitch } from "../components/browser-settings.tsx";
import { Button, CopyButton } from "../components/button.tsx";
import { Confirmed, Dialog, RenameDialog } from "../components/dialog.tsx";
import { Command, Empty, Heading, Section } from "../components/layout.tsx";
import { QrCode } from "../components/qr-code.tsx";
import { Shown } from "../components/shown.tsx";
import { type Column, Table } from "../components/table.tsx";
import { Name } from "../components/text.tsx";
import { Ago } from "../components/values.tsx";
import { useMayOperate, useServices } from "../services.ts";
import { useAction } from "../state/use-action.ts";
import { useList } from "../state/use-reader.ts";
import { clockTime } from "../texts/format.ts";
import { rich, t, wordOf } from "../texts/texts.ts";

const COLUMNS: readonly Column<PairedDevice>[] = [
  {
    label: "devices.device",
    cell: ({ name, current }) => (
      <>
        <Name>{name}</Name> {current && <span class="mark">{t("devices.this-device")}</span>}
      </>
    ),
  },
  { label: "devices.signed-in", cell: (device) => <SignIns device={device} /> },
  { label: "devices.access", cell: ({ scope }) => wordOf(scope), narrow: true },
  { label: "devices.paired", cell: ({ created_at: at }) => <Ago at={at} />, narrow: true },
  {
    label: "devices.last-seen",
    cell: ({ last_seen_at: at }) => (at === null ? t("common.never") : <Ago at={at} />),
    narrow: true,
  },
  { label: "common.change", cell: (device) => <Change device={device} />, narrow: true },
];

export function Devices() {
  const devices = useList<DeviceList>("/api/devices", ["devices"]);
  return (
    <>
      <Heading title={t("common.devices")}>
        <AddDevice />
      </Heading>
      <p>{rich("devices.pair-another-device-with-a", { command: <Command>svc pair --name "a name"</Command> })}</p>
      <Shown read={devices}>
        {({ devices: rows }) =>
          rows.length === 0 ? (
            <Empty title={t("devices.no-paired-devices")} />
          ) : (
            <Table label={t("devices.paired-devices")} columns={COLUMNS} rows={rows} keyOf={({ id }) => id} />
          )
        }
      </Shown>
      <Section title={t("devices.notifications")}>
        <NotificationSwitch />
        <PushSwitch />
      </Section>
    </>
  );
}

/** `Chrome on Linux` */
function browserOf(name: string): string {
  const [browser, system] = name.split(" on ");
  return browser === undefined || system === undefined ? name : t("devices.browser-on", { browser, system });
}

/** The sign-ins of a device; each browser can be signed out alone. */
function SignIns({ device: { id, sessions } }: { readonly device: PairedDevice }) {
  const { api, live } = useServices();
  if (sessions.length === 0) return <span class="hint">{t("devices.not-signed-in")}</span>;
  return (
    <ul class="bare sign-ins">
      {sessions.map((session) => (
        <li key={session.id}>
          <span>
            {browserOf(session.browser)} {session.current && <span class="mark">{t("devices.this-page")}</span>}
            <br />
            <span class="hint">{rich("devices.seen", { when: <Ago at={session.last_seen_at} /> })}</span>
          </span>
          <Confirmed
            text={t("devices.end")}
            label={t("devices.end-the-sign-in-of", { browser: browserOf(session.browser) })}
            question={t("devices.end-this-sign-in")}
            act={() =>
              api
                .call(path`/api/devices/${id}/sessions/${session.id}`, { method: "DELETE" })
                .finally(() => live.markStale(["devices"]))
            }
          >
            <p>
              {t("devices.is-signed-out-at-once", { browser: browserOf(session.browser) })}
              {session.current && ` ${t("devices.it-is-this-page")}`}
            </p>
          </Confirmed>
        </li>
      ))}
    </ul>
  );
}

function Change({ device: { id, name, current } }: { readonly device: PairedDevice }) {
  const { api, live } = useServices();
  const [isRenaming, setRenaming] = useState(false);
  const revoke = (): Promise<unknown> =>
    api.call(path`/api/devices/${id}`, { method: "DELETE" }).finally(() => live.markStale(["devices"]));
  return (
    <span class="buttons">
      <Button label={t("devices.rename", { name })} onPress={() => setRenaming(true)}>
        {t("common.rename")}
      </Button>
      <Confirmed
        text={t("devices.revoke")}
        label={t("devices.revoke-2", { name })}
        question={t("devices.revoke-this-device")}
        act={revoke}
      >
        <p>
          {rich("devices.its-token-turns-and-connections", { name: <Name>{name}</Name> })}
          {current && ` ${t("devices.it-is-the-device-you")}`}
        </p>
      </Confirmed>
      {isRenaming && (
        <RenameDialog
          title={t("devices.rename-this-device")}
          path={path`/api/devices/${id}/name`}
          name={name}
          stale={["devices", "sessions"]}
          onClose={() => setRenaming(false)}
        />
      )}
    </span>
  );
}

/** Pairs another device: a link and a QR code for a browser, a code for a program. */
function AddDevice() {
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
  // If another machine has opened this page, its address works for other machines.
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
