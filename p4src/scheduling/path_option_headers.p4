// Puts the path option on (path_option.p4): right before what shows a session to its peer, whatever that is.

#ifndef WAYNAME_SCHEDULING_PATH_OPTION_HEADERS_P4
#define WAYNAME_SCHEDULING_PATH_OPTION_HEADERS_P4

#include "path_option.p4"

// Whoever puts it on says which headers of the packet it is, and what follows them.
#define PUT_PATH_OPTION(header, its_order, its_report, follows) \
    header.setValid();                                      \
    header.next_header = follows;                           \
    header.length = 0;                                      \
    header.type = OPTION_PATH;                              \
    header.octets = PATH_OPTION_LENGTH;                     \
    header.version = PATH_OPTION_VERSION;                   \
    header.counted = option.put_counted;                    \
    header.slot = option.put_slot;                          \
    header.sequence = option.put_sequence;                  \
    if (option.put_ordered) {                               \
        header.version = PATH_ORDER_VERSION;                \
        header.length = 1;                                  \
        header.octets = PATH_ORDER_LENGTH;                  \
        its_order.setValid();                               \
        its_order.order = option.put_order;                 \
        its_order.copies = option.put_copies;               \
        its_order.wait = option.put_wait;                   \
    }                                                       \
    if (option.to_report) {                                 \
        header.length = header.length + 2;                  \
        header.octets = header.octets + PATH_REPORT_LENGTH - PATH_OPTION_LENGTH; \
        its_report.setValid();                              \
        its_report.slot = option.put_report.slot;           \
        its_report.newest = option.put_report.newest;       \
        its_report.arrived = option.put_report.arrived;     \
        its_report.received = option.put_report.received;   \
        its_report.marked = option.put_report.marked;       \
        its_report.came = option.put_report.came;           \
    }

// How many octets longer that makes the packet, and how many a packet that is as long as this one may be longer by.
#define ADD_PATH_OPTION(session)                            \
    session.added = session.added + option_bytes(true, option.put_ordered, option.to_report); \
    if (!option.to_report) {                                \
        session.reserved = PATH_REPORT_BYTES;               \
    }

#endif
