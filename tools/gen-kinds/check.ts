/** Holds our kinds against what upstream recorded: discovery, OpenAPI, protobuf samples. `npx tsx tools/gen-kinds/check.ts` */
import { checkDiscovery } from './check-discovery.ts';
import { checkOpenApi } from './check-openapi.ts';
import { checkProtobuf } from './check-protobuf.ts';

const problems = [...checkDiscovery(), ...checkProtobuf(), ...(await checkOpenApi())];
for (const problem of problems) console.error(problem);
console.log(problems.length === 0 ? 'all as upstream' : `${problems.length} differences`);
process.exitCode = problems.length === 0 ? 0 : 1;
