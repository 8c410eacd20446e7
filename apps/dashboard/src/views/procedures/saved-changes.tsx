/** Changes of procedures that were saved, deletions too, each with what it did to the files and the way back. */
import { useState } from "preact/hooks";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Heading } from "../../parts/heading.tsx";
import { Name } from "../../parts/name.tsx";
import { Shown } from "../../parts/shown.tsx";
import { Ago } from "../../parts/time.tsx";
import { hrefOf } from "../../route/route.ts";
import { useServices } from "../../services.ts";
import { useAction } from "../../state/use-action.ts";
import { useList } from "../../state/use-reader.ts";
import { Diff } from "../settings/save-bar.tsx";
import type { DiffLine } from "../settings/shapes.ts";
import { t } from "../../texts/texts.ts";

interface SopVersion {
  readonly version: number;
  readonly at: string;
  readonly by: string;
  readonly what: keyof typeof DONE;
  /** Of a rename the new name first. */
  readonly sops: readonly string[];
}

interface FileDiff {
  readonly sop: string;
  readonly file: string;
  readonly lines: readonly DiffLine[];
}

interface SopVersionDetail extends SopVersion {
  readonly changes: readonly FileDiff[];
  readonly undo: readonly FileDiff[];
  readonly revision: string;
}

const DONE = {
  create: "procedures.created",
  change: "procedures.changed",
  delete: "procedures.deleted",
  rename: "procedures.renamed",
  undo: "procedures.change-undone",
} as const;

export const SopChanges = () => <Changes sop={undefined} />;
export const ChangesOfSop = ({ id }: { readonly id: string }) => <Changes sop={id} />;

function Changes({ sop }: { readonly sop: string | undefined }) {
  const versions = useList<{ readonly versions: readonly SopVersion[] }>("/api/sop-versions", ["procedures"], { sop });
  return (
    <>
      <Heading
        title={t("procedures.saved-changes")}
        start={
          <a class="heading-back" href={hrefOf("procedures", sop)}>
            {sop === undefined ? t("common.procedures") : <Name>{sop}</Name>}
          </a>
        }
      />
      <Shown read={versions}>
        {({ versions: all }) =>
          all.length === 0 ? (
            <Empty title={t("procedures.no-saved-changes")}>{t("procedures.changes-of-procedures-that-you")}</Empty>
          ) : (
            all.map((version) => <SavedChange key={version.version} version={version} />)
          )
        }
      </Shown>
    </>
  );
}

function SavedChange({ version: { version, at, by, what, sops } }: { readonly version: SopVersion }) {
  const { live } = useServices();
  const [isOpen, setOpen] = useState(false);
  const [isAsking, setAsking] = useState(false);
  return (
    <details class="setting-item" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <Name>{what === "rename" ? `${sops[1]} → ${sops[0]}` : sops.join(", ")}</Name> {t(DONE[what])}{" "}
        <span class="hint">
          <Ago at={at} />, <Name>{by}</Name>
        </span>
      </summary>
      {isOpen && <Changed version={version} />}
      <Button label={t("procedures.undo-change", { version })} onPress={() => setAsking(true)}>
        {t("common.undo")}
      </Button>
      {isAsking && (
        <UndoDialog
          version={version}
          onClose={(isDone) => {
            setAsking(false);
            if (isDone) live.markStale(["procedures"]);
          }}
        />
      )}
    </details>
  );
}

function Changed({ version }: { readonly version: number }) {
  const read = useList<SopVersionDetail>(`/api/sop-versions/${version}`, []);
  return <Shown read={read}>{({ changes }) => <FileDiffs files={changes} />}</Shown>;
}

function FileDiffs({ files }: { readonly files: readonly FileDiff[] }) {
  if (files.length === 0) return <p class="hint">{t("procedures.nothing-in-the-files-changes")}</p>;
  return (
    <>
      {files.map(({ sop, file, lines }) => (
        <div key={`${sop}/${file}`}>
          <p>
            <code>
              {sop}/{file}
            </code>
          </p>
          <Diff lines={lines} />
        </div>
      ))}
    </>
  );
}

/** What is shown is what is undone: `revision` is of the files as they were then. */
function UndoDialog({ version, onClose }: { readonly version: number; readonly onClose: (isDone: boolean) => void }) {
  const { api } = useServices();
  const read = useList<SopVersionDetail>(`/api/sop-versions/${version}`, []);
  const undo = useAction(async () => {
    const body = { revision: read.data?.revision };
    await api.call(`/api/sop-versions/${version}/undo`, { method: "POST", body });
  });
  const confirm = async (): Promise<void> => {
    if (await undo.run()) onClose(true);
  };
  return (
    <Dialog
      title={t("procedures.put-the-files-back-as")}
      action={t("common.undo")}
      busy={undo.isRunning}
      error={undo.error}
      onConfirm={() => void confirm()}
      onClose={() => onClose(false)}
    >
      <Shown read={read}>{(detail) => <FileDiffs files={detail.undo} />}</Shown>
    </Dialog>
  );
}
