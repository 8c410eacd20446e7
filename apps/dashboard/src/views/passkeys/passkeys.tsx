/** The passkeys of the device that one is signed in as. */
import { useState } from "preact/hooks";
import { Badge } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Heading } from "../../parts/heading.tsx";
import { Name } from "../../parts/name.tsx";
import { Shown } from "../../parts/shown.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Ago } from "../../parts/time.tsx";
import { obstacleOn } from "../../passkeys/obstacle.ts";
import { ObstacleNote } from "../../passkeys/obstacle-note.tsx";
import type { Passkey } from "../../passkeys/passkeys.ts";
import { usePasskeySignIn } from "../../passkeys/use-ways.ts";
import { useDevice } from "../../session/use-device.ts";
import { useList } from "../../state/use-reader.ts";
import { AddPasskey } from "./add-passkey.tsx";
import { ChangePasskey } from "./change-passkey.tsx";
import { rich, t } from "../../texts/texts.ts";

export function Passkeys() {
  const passkeys = useList<{ readonly credentials: readonly Passkey[] }>("/api/webauthn/credentials", ["passkeys"]);
  const device = useDevice();
  const signsIn = usePasskeySignIn();
  const obstacle = obstacleOn(window);
  const isThere = passkeys.data !== undefined;
  const [isAdding, setAdding] = useState(false);
  return (
    <>
      <Heading title={t("passkeys.passkeys")}>
        {isThere && obstacle === undefined && (
          <Button kind="main" onPress={() => setAdding(true)}>
            {t("passkeys.add-a-passkey")}
          </Button>
        )}
      </Heading>
      {isThere && <p>{rich("passkeys.a-passkey-signs-any-browser", { name: <Name>{device?.name ?? ""}</Name> })}</p>}
      {isThere && signsIn === false && (
        <p class="hint">
          {rich("passkeys.the-sign-in-page-takes", {
            setting: <code>sign_in = true</code>,
            section: <code>[security.webauthn]</code>,
          })}
        </p>
      )}
      {isThere && obstacle !== undefined && <ObstacleNote obstacle={obstacle} />}
      <Shown read={passkeys}>{({ credentials }) => <Listed passkeys={credentials} />}</Shown>
      {isAdding && <AddPasskey onClose={() => setAdding(false)} />}
    </>
  );
}

function Listed({ passkeys }: { readonly passkeys: readonly Passkey[] }) {
  if (passkeys.length === 0) return <Empty title={t("passkeys.this-device-has-no-passkey")} />;
  return <Table label={t("passkeys.passkeys")} columns={columnsOf(passkeys)} rows={passkeys} keyOf={({ id }) => id} />;
}

const columnsOf = (all: readonly Passkey[]): readonly Column<Passkey>[] => [
  { label: "passkeys.passkey", cell: (passkey) => <Which passkey={passkey} /> },
  { label: "passkeys.added", cell: ({ created_at: at }) => <Ago at={at} />, narrow: true },
  {
    label: "passkeys.used",
    cell: ({ last_used_at: at }) => (at === null ? t("common.never") : <Ago at={at} />),
    narrow: true,
  },
  {
    label: "common.change",
    cell: (passkey) => <ChangePasskey passkey={passkey} isLast={isLast(passkey, all)} />,
    narrow: true,
  },
];

function Which({ passkey: { name, suspect } }: { readonly passkey: Passkey }) {
  return (
    <>
      <Name>{name}</Name> {suspect && <Badge state="suspect" />}
      {suspect && <div class="hint">{t("passkeys.it-counted-backwards-as-a")}</div>}
    </>
  );
}

/** Of those of its user that work. */
const isLast = ({ id, user_id: userId }: Passkey, all: readonly Passkey[]): boolean =>
  !all.some((other) => other.id !== id && other.user_id === userId && !other.suspect);
