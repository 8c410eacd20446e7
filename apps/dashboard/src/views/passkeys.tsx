/** Passkeys of the signed-in device. */
import { useEffect, useId, useState } from "preact/hooks";
import { path } from "../client/api.ts";
import { type Passkey, addPasskey, prepareAuthenticator, removePasskey } from "../client/passkeys.ts";
import { Button } from "../components/button.tsx";
import { Dialog, RenameDialog } from "../components/dialog.tsx";
import { Command, Empty, Heading } from "../components/layout.tsx";
import { obstacleOn, usePasskeySignIn } from "../components/passkey-obstacle.tsx";
import { ObstacleNote } from "../components/passkey-obstacle.tsx";
import { Shown } from "../components/shown.tsx";
import { type Column, Table } from "../components/table.tsx";
import { Name } from "../components/text.tsx";
import { Ago, Badge } from "../components/values.tsx";
import { useDevice, useServices } from "../services.ts";
import { useAction } from "../state/use-action.ts";
import { useList } from "../state/use-reader.ts";
import { rich, t } from "../texts/texts.ts";

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

/** Number of working passkeys of its user. */
const isLast = ({ id, user_id: userId }: Passkey, all: readonly Passkey[]): boolean =>
  !all.some((other) => other.id !== id && other.user_id === userId && !other.suspect);

interface ChangePasskeyProps {
  readonly passkey: Passkey;
  readonly isLast: boolean;
}

function ChangePasskey({ passkey, isLast }: ChangePasskeyProps) {
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

interface RemovePasskeyProps {
  readonly passkey: Passkey;
  /** Whether it is the last working passkey. */
  readonly isLast: boolean;
  readonly onClose: () => void;
}

function RemovePasskey({ passkey: { id, name }, isLast, onClose }: RemovePasskeyProps) {
  const { api, live } = useServices();
  const [token, setToken] = useState("");
  const remove = useAction(() => removePasskey(api, id, token.trim() === "" ? undefined : token));
  // Another passkey may have been removed meanwhile: then the daemon requires the token too.
  const needsToken = isLast || remove.error?.code === "PASSKEY_LAST";
  const confirm = async (): Promise<void> => {
    const isGone = await remove.run();
    setToken("");
    if (!isGone) return;
    live.markStale(["passkeys"]);
    onClose();
  };
  return (
    <Dialog
      title={t("passkeys.remove-this-passkey")}
      action={t("common.remove")}
      busy={remove.isRunning}
      error={remove.error}
      onConfirm={() => void confirm()}
      onClose={onClose}
    >
      <p>{rich("passkeys.signs-in-no-more-your", { name: <Name>{name}</Name> })}</p>
      {needsToken && <TokenField id={id} token={token} onInput={setToken} onEnter={() => void confirm()} />}
    </Dialog>
  );
}

/** The command to type: the start of the id, which may begin like an option. */
const removalOf = (id: string): string => `svc passkeys remove ${id.startsWith("-") ? "-- " : ""}${id.slice(0, 12)}`;

interface FieldProps {
  readonly id: string;
  readonly token: string;
  readonly onInput: (token: string) => void;
  readonly onEnter: () => void;
}

/** The device's token, so that a person at an unlocked page can't lock the owner out. */
function TokenField({ id, token, onInput, onEnter }: FieldProps) {
  const field = useId();
  return (
    <>
      <label for={field}>{t("passkeys.token-of-this-device")}</label>
      <input
        id={field}
        type="password"
        autoComplete="off"
        maxLength={200}
        aria-describedby={`${field}-hint`}
        value={token}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
        onKeyDown={(event) => event.key === "Enter" && !event.isComposing && onEnter()}
      />
      <p class="hint" id={`${field}-hint`}>
        {rich("passkeys.it-is-the-last-one", { command: <Command>{removalOf(id)}</Command> })}
      </p>
    </>
  );
}

/** Asks for the passkey's name; the browser asks for the rest. */
function AddPasskey({ onClose }: { readonly onClose: () => void }) {
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
