// k3s is in the catalog once for every release: the same program, another folder with the pinned module. Which release it is, is said by
// whoever builds it; without that it calls itself `dev` and no node of it has a version.
import type { GoSource, Part } from './part.ts';

export const k3sPart = (
  version: string,
  { folder, program, overlay }: { folder: string; program: string; overlay?: GoSource['overlay'] },
): Pick<Part, 'version' | 'source' | 'needs' | 'check'> => ({
  version,
  source: {
    from: 'go',
    folder,
    programs: { [program]: './cmd/server' },
    copyOf: 'github.com/k3s-io/k3s',
    ...(overlay ? { overlay } : {}),
    cgo: true,
    tags: [
      'ctrd',
      'netcgo',
      'osusergo',
      'providerless',
      'urfave_cli_no_docs',
      'sqlite_omit_load_extension',
      'static_build',
    ],
    ldflags: [
      `-X github.com/k3s-io/k3s/pkg/version.Version=${version}`,
      '-X github.com/k3s-io/k3s/pkg/version.UpstreamGolang=$GOVERSION',
      `-X k8s.io/component-base/version.gitVersion=${version}`,
      `-X k8s.io/client-go/pkg/version.gitVersion=${version}`,
      "-extldflags '-static -lm -ldl -lz -lpthread'",
    ],
  },
  needs: ['host-tools'],
  check: [`bin/${program}`],
});
