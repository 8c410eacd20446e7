/** Saved changes of procedures, deletions included. */
import type { SopVersionDetail, SopVersions } from "@svc/api";
import { SavedChanges, type SavedChangesSource } from "../../components/saved-changes.tsx";
import { Name } from "../../components/text.tsx";
import { useServices } from "../../services.ts";
import { hrefOf } from "../../state/route.ts";
import { useList } from "../../state/use-reader.ts";
import { t } from "../../texts/texts.ts";

const DONE = {
  create: "procedures.created",
  change: "procedures.changed",
  delete: "procedures.deleted",
  rename: "procedures.renamed",
  undo: "procedures.change-undone",
} as const;

const PATH = "/api/sop-versions";

const withNames = (files: SopVersionDetail["changes"]) =>
  files.map(({ sop, file, lines }) => ({ file: `${sop}/${file}`, lines }));

const SOURCE: SavedChangesSource = {
  path: PATH,
  async readChange(api, version, signal) {
    const { changes } = await api.get<SopVersionDetail>(`${PATH}/${version}`, undefined, signal);
    return withNames(changes);
  },
  async readUndo(api, version, signal) {
    const { revision, undo } = await api.get<SopVersionDetail>(`${PATH}/${version}`, undefined, signal);
    return { revision, files: withNames(undo) };
  },
};

export const SopChanges = () => <Changes sop={undefined} />;
export const ChangesOfSop = ({ id }: { readonly id: string }) => <Changes sop={id} />;

function Changes({ sop }: { readonly sop: string | undefined }) {
  const { live } = useServices();
  const versions = useList<SopVersions>(PATH, ["procedures"], { sop });
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
