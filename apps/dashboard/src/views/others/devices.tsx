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

const COLUMNS: readonly Column<PairedDevice>[] = [
  {
    label: "Device",
    cell: ({ name, current }) => (
      <>
        <Name>{name}</Name> {current && <span class="mark">this device</span>}
      </>
    ),
  },
  { label: "Signed in", cell: (device) => <SignIns device={device} /> },
  { label: "Access", cell: ({ scope }) => scope, narrow: true },
  { label: "Paired", cell: ({ created_at: at }) => <Ago at={at} />, narrow: true },
  { label: "Last seen", cell: ({ last_seen_at: at }) => (at === null ? "never" : <Ago at={at} />), narrow: true },
  { label: "Change", cell: (device) => <Change device={device} />, narrow: true },
];

export function Devices() {
  const devices = useList<{ readonly devices: readonly PairedDevice[] }>("/api/devices", ["devices"]);
  return (
    <>
      <Heading title="Devices">
        <AddDevice />
      </Heading>
      <p>
        Pair another device with a code. Create one here, or on the daemon's machine:{" "}
        <Command>svc pair --name "a name"</Command>
      </p>
      <Shown read={devices}>
        {({ devices: rows }) =>
          rows.length === 0 ? (
            <Empty title="No paired devices" />
          ) : (
            <Table label="Paired devices" columns={COLUMNS} rows={rows} keyOf={({ id }) => id} />
          )
        }
      </Shown>
      <Section title="Notifications">
        <NotificationSwitch />
        <PushSwitch />
      </Section>
    </>
  );
}

/** Each browser by itself: one that was lost is signed out, and the others stay. */
function SignIns({ device: { id, sessions } }: { readonly device: PairedDevice }) {
  const { api, live } = useServices();
  if (sessions.length === 0) return <span class="hint">not signed in</span>;
  return (
    <ul class="bare sign-ins">
      {sessions.map((session) => (
        <li key={session.id}>
          <span>
            {session.browser} {session.current && <span class="mark">this page</span>}
            <br />
            <span class="hint">
              seen <Ago at={session.last_seen_at} />
            </span>
          </span>
          <Confirmed
            text="End"
            label={`End the sign-in of ${session.browser}`}
            question="End this sign-in?"
            act={() =>
              api
                .call(path`/api/devices/${id}/sessions/${session.id}`, { method: "DELETE" })
                .finally(() => live.markStale(["devices"]))
            }
          >
            <p>
              {session.browser} is signed out at once. The device stays paired.
              {session.current && " It is this page."}
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
      <Button label={`Rename ${name}`} onPress={() => setRenaming(true)}>
        Rename
      </Button>
      <Confirmed text="Revoke" label={`Revoke ${name}`} question="Revoke this device?" act={revoke}>
        <p>
          <Name>{name}</Name>: its token, turns and connections end at once. This cannot be undone.
          {current && " It is the device you are using: you will be signed out."}
        </p>
      </Confirmed>
      {isRenaming && (
        <RenameDialog
          title="Rename this device"
          path={path`/api/devices/${id}/name`}
          name={name}
          stale={["devices", "sessions"]}
          onClose={() => setRenaming(false)}
        />
      )}
    </span>
  );
}
