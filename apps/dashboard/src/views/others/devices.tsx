/** Who may use the service, where it is signed in, and how one is shut out or let in. */
import { useState } from "preact/hooks";
import { path } from "../../api/client.ts";
import type { PairedDevice } from "../../api/shapes.ts";
import { NotificationSwitch } from "../../notify/notification-switch.tsx";
import { PushSwitch } from "../../notify/push-switch.tsx";
import { Button } from "../../parts/button.tsx";
import { Confirmed } from "../../parts/confirmed.tsx";
import { Command, Empty } from "../../parts/empty.tsx";
import { Heading } from "../../parts/heading.tsx";
import { Name } from "../../parts/name.tsx";
import { RenameDialog } from "../../parts/rename-dialog.tsx";
import { Section } from "../../parts/section.tsx";
import { Shown } from "../../parts/shown.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { AddDevice } from "./add-device.tsx";
import { Ago } from "../../parts/time.tsx";
import { useServices } from "../../services.ts";
import { useList } from "../../state/use-reader.ts";
import { rich, t, wordOf } from "../../texts/texts.ts";

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
  const devices = useList<{ readonly devices: readonly PairedDevice[] }>("/api/devices", ["devices"]);
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

/** `Chrome on Linux`, as the service calls it. */
function browserOf(name: string): string {
  const [browser, system] = name.split(" on ");
  return browser === undefined || system === undefined ? name : t("devices.browser-on", { browser, system });
}

/** Each browser by itself: one that was lost is signed out, and the others stay. */
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
