/** Saved changes of procedures, deletions included. */
import {
  type DiffLine,
  type SavedChange,
  SavedChanges,
  type SavedChangesSource,
} from "../../components/saved-changes.tsx";
import { Name } from "../../components/text.tsx";
import { useServices } from "../../services.ts";
import { hrefOf } from "../../state/route.ts";
import { useList } from "../../state/use-reader.ts";
import { t } from "../../texts/texts.ts";

interface SopChange extends SavedChange {
  readonly what: keyof typeof DONE;
  /** For a rename, the new name first. */
  readonly sops: readonly string[];
}

interface SopFileDiff {
  readonly sop: string;
  readonly file: string;
  readonly lines: readonly DiffLine[];
}

interface SopChangeDetail extends SopChange {
  readonly changes: readonly SopFileDiff[];
  readonly undo: readonly SopFileDiff[];
  readonly revision: string;
}

const DONE = {
  create: "procedures.created",
  change: "procedures.changed",
  delete: "procedures.deleted",
  rename: "procedures.renamed",
  undo: "procedures.change-undone",
} as const;

const PATH = "/api/sop-versions";

const withNames = (files: readonly SopFileDiff[]) =>
  files.map(({ sop, file, lines }) => ({ file: `${sop}/${file}`, lines }));

const SOURCE: SavedChangesSource = {
  path: PATH,
  async readChange(api, version, signal) {
    const { changes } = await api.get<SopChangeDetail>(`${PATH}/${version}`, undefined, signal);
    return withNames(changes);
  },
  async readUndo(api, version, signal) {
    const { revision, undo } = await api.get<SopChangeDetail>(`${PATH}/${version}`, undefined, signal);
    return { revision, files: withNames(undo) };
  },
};

export const SopChanges = () => <Changes sop={undefined} />;
export const ChangesOfSop = ({ id }: { readonly id: string }) => <Changes sop={id} />;

function Changes({ sop }: { readonly sop: string | undefined }) {
  const { live } = useServices();
  const versions = useList<{ readonly versions: readonly SopChange[] }>(PATH, ["procedures"], { sop });
  return (
    <SavedChanges
      source={SOURCE}
      versions={versions}
      back={
        <a class="heading-back" href={hrefOf("procedures", sop)}>
          {sop === undefined ? t("common.procedures") : <Name>{sop}</Name>}
        </a>
      }
      hint={t("procedures.changes-of-procedures-that-you")}
      question={t("procedures.put-the-files-back-as")}
      summary={({ what, sops }) => (
        <>
          <Name>{what === "rename" ? `${sops[1]} → ${sops[0]}` : sops.join(", ")}</Name> {t(DONE[what])}
        </>
      )}
      onUndone={() => live.markStale(["procedures"])}
    />
  );
}
