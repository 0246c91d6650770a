// What a provider makes of the prefix of the inside.

#ifndef WAYNAME_TRANSLATIONS_P4
#define WAYNAME_TRANSLATIONS_P4

control Translations(inout metadata_t meta) {
    @id(TRANSLATIONS_COUNTER_ID) TABLE_COUNTER(translations_counter);

    @id(TRANSLATE_OUT_ACTION_ID)
    @name("translate_out")
    @brief("The prefix inside (`mask` says how much), what takes its place, and their difference. In the subnet's word: for prefixes of up to 48 bits.")
    action translate_out(@id(1) ipv6_address_t old, @id(2) ipv6_address_t new, @id(3) ipv6_address_t mask,
                         @id(4) bit<16> difference, @id(5) bit<1> in_subnet) {
        meta.border.source.wanted = true;
        meta.border.source.old = old;
        meta.border.source.new = new;
        meta.border.source.mask = mask;
        meta.border.source.difference = difference;
        meta.border.source.in_subnet = in_subnet;
    }

    @id(BEAR_INSIDE_ACTION_ID)
    @name("bear_inside")
    @brief("The inside has this provider's addresses.")
    action bear_inside() {
    }

    @id(NO_TRANSLATION_ACTION_ID)
    @name("no_translation")
    action no_translation() {
        drop(meta, DROP_NO_PROVIDER);
    }

    @id(TRANSLATIONS_TABLE_ID)
    @name("translations")
    @brief("What sources bear on their way out by a provider.")
    table translations {
        key = {
            meta.border.site     : exact @id(1) @name("site");
            meta.border.provider : exact @id(2) @name("provider");
        }
        actions = {
            translate_out;
            bear_inside;
            @defaultonly no_translation;
        }
        const default_action = no_translation;
        counters = translations_counter;
        size = TRANSLATIONS;
    }

    apply {
        translations.apply();
    }
}

#endif
