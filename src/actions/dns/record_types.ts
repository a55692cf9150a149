/** The types of records that can be asked for. */
export const RECORD_TYPES: readonly string[] = [
  ...["A", "AAAA", "CAA", "CNAME", "DS", "HINFO", "MX", "NAPTR", "NS", "PTR", "SOA", "SRV"],
  ...["SSHFP", "TLSA", "TXT"],
];
